/** One variable that a process reads, in the words of the reference for operators. */
export interface Setting {
  readonly name: string;
  /** What a value may be, with its unit. */
  readonly type: string;
  /** As Markdown; empty = it has none and may be left out, `required` = it may not. */
  readonly default: string;
  readonly isSecret: boolean;
  /** What it does; empty when nobody says so. */
  readonly about: string;
}

/** What is said of the next setting that is read. */
export interface SettingNote {
  readonly about: string;
  readonly isSecret: boolean;
  /** Instead of the default itself, where that depends on the machine or on other settings. */
  readonly defaultText?: string | undefined;
}

/** Shown as the default of what has none and is needed. */
export const REQUIRED = "required";

/** The settings that were read, in that order, each under the first note that says what it does. */
export class SettingList {
  readonly #settings = new Map<string, Setting>();

  get all(): readonly Setting[] {
    return [...this.#settings.values()];
  }

  /** Other reads of a setting that is described already change nothing. */
  add(name: string, { type, ...read }: { type: string; default: string }, note: SettingNote): void {
    const { about, isSecret, defaultText } = note;
    const known = this.#settings.get(name);
    if (known !== undefined && (known.about !== "" || about === "")) return;
    this.#settings.set(name, {
      name,
      type,
      default: defaultText ?? formatDefault(read.default),
      isSecret,
      about,
    });
  }
}

function formatDefault(value: string): string {
  return value === "" || value === REQUIRED ? value : `\`${value}\``;
}

/** For example `a, b or c`. */
export function describeChoice(values: readonly string[]): string {
  return values.join(", ").replace(/, ([^,]*)$/, " or $1");
}

/** For example `whole number, 1 to 100`. */
export function describeRange(
  kind: string,
  { min = 0, max }: { readonly min?: number; readonly max?: number },
): string {
  if (max !== undefined) return `${kind}, ${min} to ${max}`;
  return min === 0 ? kind : `${kind}, at least ${min}`;
}
