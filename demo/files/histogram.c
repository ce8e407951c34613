#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* Counts the letters of standard input and prints one bar a letter. */
int main(void) {
  unsigned long counts[26] = {0};
  int c;
  while ((c = getchar()) != EOF) {
    if (isalpha(c)) counts[tolower(c) - 'a']++;
  }
  for (int i = 0; i < 26; i++) {
    printf("%c %6lu ", 'a' + i, counts[i]);
    for (unsigned long k = 0; k < counts[i] && k < 60; k++) putchar('#');
    putchar('\n');
  }
  return EXIT_SUCCESS;
}
