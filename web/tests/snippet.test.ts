// @vitest-environment node
import { expect, test } from "vitest";
import { mark, wordsOf } from "../src/logic/snippet";

const marked = (text: string, query: string) =>
  mark(text, query)
    .filter((piece) => piece.marked)
    .map((piece) => piece.text);

test("words are marked whatever their case, and where they only begin a word", () => {
  expect(marked("Save, save as… autosave", "SAVE")).toEqual(["Save", "save"]);
  expect(marked("saving a file", "sav file")).toEqual(["saving", "file"]);
});

test("the pieces put together are the text", () => {
  for (const text of ["", "a", "open file", "file open file", "<b>file</b>", "Straße İstanbul 文件 file"]) {
    expect(mark(text, "file 文件 istanbul").map((piece) => piece.text).join("")).toBe(text);
  }
});

test("a query is words and not a pattern", () => {
  expect(wordsOf("a.*(b [c] \\d a")).toEqual(["a", "b", "c", "d"]);
  expect(marked("anything at all", ".*")).toEqual([]);
  expect(marked("open (all", "(all")).toEqual(["all"]);
});

test("the longest of two words that begin alike is marked whole", () => {
  expect(marked("filename", "file filename")).toEqual(["filename"]);
});
