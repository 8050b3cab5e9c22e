/**
 * How often an operator has a reason to look at a setting: `needed` before production, `usual` to adapt an
 * installation, `advanced` for tuning and special networks, `tests` for tests and trials only.
 */
export const SETTING_LEVELS = ["needed", "usual", "advanced", "tests"] as const;

export type SettingLevel = (typeof SETTING_LEVELS)[number];

/** One environment variable that a process reads, as the settings reference for operators shows it. */
export interface Setting {
  readonly name: string;
  /** The allowed values of the setting and their unit, for example `seconds`. */
  readonly type: string;
  /**
   * Default of the setting as Markdown. Empty: the setting is optional and has no default. `required`: the setting must
   * be set.
   */
  readonly default: string;
  readonly isSecret: boolean;
  /** What the setting does; empty when the code that reads it gives no description. */
  readonly about: string;
  readonly level: SettingLevel;
}

/** The description of a setting, which the code gives before it reads the setting. */
export interface SettingNote {
  readonly about: string;
  readonly isSecret: boolean;
  readonly level: SettingLevel;
  /**
   * Text that the settings reference shows as the default when the default depends on the machine or on other settings.
   */
  readonly shownDefault?: string | undefined;
}

/** What the settings reference says about a setting besides its description. */
export interface SettingDetails {
  /** How often operators have a reason to look at the setting. Default: `usual`. */
  readonly level?: SettingLevel;
  /**
   * The text that the settings reference shows as the default if the default depends on the machine or on other
   * settings.
   */
  readonly default?: string;
}

/** The word that the settings reference shows in place of a default for a setting that must be set. */
export const REQUIRED = "required";

/**
 * Collects the settings that a process reads, in the order of reading. A setting that is read twice keeps its first
 * description.
 */
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

/** Returns the allowed values of a setting as a phrase, for example `a, b or c`. */
export function describeChoice(values: readonly string[]): string {
  return values.join(", ").replace(/, ([^,]*)$/, " or $1");
}

/** Returns the allowed range of a setting as a phrase, for example `whole number, 1 to 100`. */
export function describeRange(
  kind: string,
  { min = 0, max }: { readonly min?: number; readonly max?: number },
): string {
  if (max !== undefined) return `${kind}, ${min} to ${max}`;
  return min === 0 ? kind : `${kind}, at least ${min}`;
}
