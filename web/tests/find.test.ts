import { describe, expect, it } from "vitest";
import { findWords, snippetOf, wordsOf } from "../src/api/find";

const texts = ["print the invoice", "invoice list: invoice 1, invoice 2", "open a file"].map(wordsOf);

describe("the search of a report", () => {
  it("finds the texts that hold all words, those that hold them more often first", () => {
    expect(findWords("invoice", texts).map((found) => found.place)).toEqual([1, 0]);
    expect(findWords("print invoice", texts).map((found) => found.place)).toEqual([0]);
  });

  it("takes what was typed for the beginning of a word", () => {
    expect(findWords("INV", texts).map((found) => found.place)).toEqual([1, 0]);
    expect(findWords("voice", texts)).toEqual([]);
  });

  it("finds nothing for no words", () => {
    expect(findWords(" <> ", texts)).toEqual([]);
  });

  it("shows some text around the first word that was found", () => {
    const text = `${"a ".repeat(200)}invoice ${"b ".repeat(200)}`;
    const snippet = snippetOf("invoice", text, 90);
    expect(snippet).toContain("invoice");
    expect(snippet.length).toBeLessThanOrEqual(92);
    expect(snippet.startsWith("…") && snippet.endsWith("…")).toBe(true);
  });
});
