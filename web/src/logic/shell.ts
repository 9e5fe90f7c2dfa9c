/** Command lines that a person can paste. */

/** A word for a POSIX shell: quoted when it needs to be. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** `screensearch` with these words. */
export function commandLine(...words: (string | number)[]): string {
  return ["screensearch", ...words.map((word) => quoted(String(word)))].join(" ");
}
