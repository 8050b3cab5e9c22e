import { createStore, useStore } from "./create-store.ts";

export type Language = "en" | "ko";
export type Theme = "system" | "light" | "dark";

/** What a reader chose for this browser. No secret and nothing of the workspace is among it. */
export interface Settings {
  readonly language: Language;
  readonly theme: Theme;
  /** IANA name of the zone in which times are shown. */
  readonly zone: string;
  /** Whether single letters act as keys (WCAG 2.1.4: it must be possible to switch them off). */
  readonly letterKeys: boolean;
}

const PREFIX = "postrider.";

function read(name: keyof Settings): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

function keep(name: keyof Settings, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone }).format();
    return true;
  } catch {
    return false;
  }
}

export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function ownLanguage(): Language {
  return navigator.language.startsWith("ko") ? "ko" : "en";
}

/** Whether the browser's own fields for dates and times have another form than the page. */
export function hasForeignFields(language: Language): boolean {
  return !navigator.language.startsWith(language);
}

function loadSettings(): Settings {
  const language = read("language");
  const theme = read("theme");
  const zone = read("zone");
  return {
    language: language === "en" || language === "ko" ? language : ownLanguage(),
    theme: theme === "light" || theme === "dark" ? theme : "system",
    zone: zone !== null && isZone(zone) ? zone : ownZone(),
    letterKeys: read("letterKeys") !== "false",
  };
}

const store = createStore<Settings>(loadSettings());

export const readSettings = store.get;

export function useSettings(): Settings {
  return useStore(store);
}

/** Changes settings, keeps them in this browser, and applies those that the document carries. */
export function changeSettings(changes: Partial<Settings>): void {
  const settings = { ...store.get(), ...changes };
  for (const name of Object.keys(changes) as (keyof Settings)[]) keep(name, String(settings[name]));
  apply(settings);
  store.set(settings);
}

/** While the theme changes, transitions are off: controls would fade through grey. */
function apply({ language, theme }: Settings): void {
  const root = document.documentElement;
  root.dataset["switching"] = "";
  root.lang = language;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
  requestAnimationFrame(() => requestAnimationFrame(() => delete root.dataset["switching"]));
}
