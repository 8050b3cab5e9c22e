/** `needed` before production, `usual` to adapt an installation, `advanced` for tuning. */
export const SETTING_LEVELS = ["needed", "usual", "advanced", "tests"] as const;

export type SettingLevel = (typeof SETTING_LEVELS)[number];

/** A variable as the settings reference shows it. */
export interface Setting {
  readonly name: string;
  /** Allowed values and unit, for example `seconds`. */
  readonly type: string;
  /** Markdown. Empty: optional without a default. `required`: must be set. */
  readonly default: string;
  readonly isSecret: boolean;
  readonly about: string;
  readonly level: SettingLevel;
  readonly isPeer?: boolean | undefined;
}

export interface SettingNote {
  readonly about: string;
  readonly isSecret: boolean;
  readonly level: SettingLevel;
  readonly isPeer?: boolean | undefined;
  /** Shown when the default depends on the machine or on other settings. */
  readonly shownDefault?: string | undefined;
}

export interface SettingDetails {
  /** Default: `usual`. */
  readonly level?: SettingLevel;
  readonly default?: string;
  /** The address of another process of Postrider, to which RPCs are sent. */
  readonly isPeer?: boolean;
}

/** Shown in place of a default. */
export const REQUIRED = "required";

/** In the order of reading. A setting that is read twice keeps its first description. */
export class SettingList {
  readonly #settings = new Map<string, Setting>();

  get all(): readonly Setting[] {
    return [...this.#settings.values()];
  }

  add(name: string, { type, ...read }: { type: string; default: string }, note: SettingNote): void {
    const { shownDefault, ...described } = note;
    const known = this.#settings.get(name);
    if (known !== undefined && (known.about !== "" || note.about === "")) return;
    this.#settings.set(name, {
      name,
      type,
      default: shownDefault ?? formatDefault(read.default),
      ...described,
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
