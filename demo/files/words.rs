use std::collections::HashMap;
use std::io::{self, BufRead};

/// Counts the words of standard input and prints the ten most frequent.
fn main() -> io::Result<()> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for line in io::stdin().lock().lines() {
        for word in line?.split_whitespace() {
            *counts.entry(word.to_lowercase()).or_insert(0) += 1;
        }
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    for (word, count) in sorted.iter().take(10) {
        println!("{count:6} {word}");
    }
    Ok(())
}
