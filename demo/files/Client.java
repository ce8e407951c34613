package org.example.tides;

import java.util.ArrayList;
import java.util.List;

public final class Client {
    private final List<String> names = new ArrayList<>();

    public void add(String name) {
        if (name == null || name.isBlank()) {
            throw new IllegalArgumentException("a station needs a name");
        }
        names.add(name.trim());
    }

    public static void main(String[] args) {
        Client client = new Client();
        for (String arg : args) {
            client.add(arg);
        }
        System.out.println(client.names.size() + " stations: " + String.join(", ", client.names));
    }
}
