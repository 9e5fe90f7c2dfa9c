import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? sources(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

const markup = ["dangerously" + "SetInnerHTML", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"];

it("no text of an explored application can become markup or script", () => {
  const files = sources("src").filter((file) => /\.tsx?$/.test(file));
  expect(files.length).toBeGreaterThan(20);
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    for (const word of markup) expect(text.includes(word), `${word} in ${file}`).toBe(false);
  }
});

it("the page asks no other place for anything", () => {
  for (const file of [...sources("src"), "index.html"]) {
    const text = readFileSync(file, "utf8").replace(/http:\/\/www\.w3\.org\/\S+/g, "");
    expect(/https?:\/\//.test(text), file).toBe(false);
  }
});
