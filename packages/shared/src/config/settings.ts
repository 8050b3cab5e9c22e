/** A setting that a process reads, as the reference for operators describes it. */
export interface Setting {
  readonly name: string;
  /** The allowed values, with their unit. */
  readonly type: string;
  /** Markdown; empty for an optional setting without a default, `required` for a required one. */
  readonly default: string;
  readonly isSecret: boolean;
  /** What it does; empty without a description. */
  readonly about: string;
}

/** The description of the next setting that is read. */
export interface SettingNote {
  readonly about: string;
  readonly isSecret: boolean;
  /** Replaces the default in the reference if it depends on the machine or on other settings. */
  readonly defaultText?: string | undefined;
}

/** The default of a required setting. */
export const REQUIRED = "required";

/** The settings in the order in which they were read, each with its first description. */
export class SettingList {
  readonly #settings = new Map<string, Setting>();

  get all(): readonly Setting[] {
    return [...this.#settings.values()];
  }

  /** Adds a setting. One that is already described is not changed. */
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
