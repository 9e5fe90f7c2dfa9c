/** Light or dark: as the system says, unless the reader chose. */

export type Theme = "system" | "light" | "dark";

export const themes: Theme[] = ["system", "light", "dark"];

export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem("screensearch-theme");
    return themes.find((theme) => theme === stored) ?? "system";
  } catch {
    return "system"; // a page from disk may have no storage
  }
}

export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  try {
    localStorage.setItem("screensearch-theme", theme);
  } catch {
    // It holds until the page is closed.
  }
  dispatchEvent(new Event("screensearch-theme"));
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Call back when the colours change; returns what ends it. */
export function onThemeChange(listener: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", listener);
  addEventListener("screensearch-theme", listener);
  return () => {
    system.removeEventListener("change", listener);
    removeEventListener("screensearch-theme", listener);
  };
}

/** The value of a custom property as the page has it now: for what is drawn on a canvas. */
export function colour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
