import {
  describeChoice,
  describeRange,
  REQUIRED,
  SettingList,
  type Setting,
  type SettingDetails,
  type SettingNote,
} from "#src/config/settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

interface StringRule {
  readonly default?: string;
  readonly minLength?: number;
}

interface NumberRule {
  readonly default?: number;
  readonly min?: number;
  readonly max?: number;
}

const NOT_DESCRIBED: SettingNote = { about: "", isSecret: false, level: "usual" };

/**
 * An invalid setting does not throw: it is noted, and reading continues with a placeholder;
 * `loadConfig` throws once at the end. Each setting that is read is recorded for
 * `docs/configuration.md`.
 */
export class EnvReader {
  readonly #env: Environment;
  readonly #settings: SettingList;
  readonly #note: SettingNote;
  readonly faults: string[];

  constructor(
    env: Environment,
    shared: {
      readonly settings?: SettingList;
      readonly faults?: string[];
      readonly note?: SettingNote;
    } = {},
  ) {
    this.#env = env;
    this.#settings = shared.settings ?? new SettingList();
    this.#note = shared.note ?? NOT_DESCRIBED;
    this.faults = shared.faults ?? [];
  }

  get settings(): readonly Setting[] {
    return this.#settings.all;
  }

  /** `read.about("Address of posts.").url("POSTS_URL")` */
  about(about: string, details: SettingDetails = {}): EnvReader {
    return this.#describe(about, false, details);
  }

  /** Like `about`, for a secret. */
  secret(about: string, details: SettingDetails = {}): EnvReader {
    return this.#describe(about, true, details);
  }

  #describe(about: string, isSecret: boolean, details: SettingDetails): EnvReader {
    const { level = "usual", default: shownDefault, isPeer } = details;
    return this.#derive({ note: { about, isSecret, level, shownDefault, isPeer } });
  }

  /** If `isUsed` is false, settings are recorded, but invalid values are not reported. */
  when(isUsed: boolean): EnvReader {
    return isUsed ? this : this.#derive({ faults: [] });
  }

  #derive(changed: { readonly note?: SettingNote; readonly faults?: string[] }): EnvReader {
    const { faults } = this;
    return new EnvReader(this.#env, {
      settings: this.#settings,
      faults,
      note: this.#note,
      ...changed,
    });
  }

  #record(name: string, type: string, defaultValue: string | number = REQUIRED): void {
    this.#settings.add(name, { type, default: String(defaultValue) }, this.#note);
  }

  fail(name: string, message: string): void {
    this.faults.push(`${name} ${message}`);
  }

  has(name: string): boolean {
    return this.find(name) !== undefined;
  }

  /** An empty value counts as absent, because shells and manifests often set empty values. */
  optionalString(name: string): string | undefined {
    this.#record(name, "text", "");
    return this.find(name);
  }

  /** Unlike the methods that read settings, this one records nothing. */
  find(name: string): string | undefined {
    const value = this.#env[name];
    return value === undefined || value === "" ? undefined : value;
  }

  string(name: string, rule: StringRule = {}): string {
    const atLeast = rule.minLength === undefined ? "" : `, at least ${rule.minLength} characters`;
    this.#record(name, `text${atLeast}`, rule.default);
    const value = this.find(name) ?? rule.default;
    if (value === undefined) {
      this.fail(name, "is required");
      return "";
    }
    if (rule.minLength !== undefined && value.length < rule.minLength)
      this.fail(name, `needs at least ${rule.minLength} characters`);

    return value;
  }

  number(name: string, rule: NumberRule = {}): number {
    this.#record(name, describeRange("number", rule), rule.default);
    const text = this.find(name);
    if (text === undefined) {
      if (rule.default === undefined) this.fail(name, "is required");
      return rule.default ?? 0;
    }
    const value = Number(text);
    if (!Number.isFinite(value)) {
      this.fail(name, `is not a number: ${text}`);
      return rule.default ?? 0;
    }
    this.#checkRange(name, value, rule);
    return value;
  }

  #checkRange(name: string, value: number, rule: NumberRule): void {
    if (rule.min !== undefined && value < rule.min)
      this.fail(name, `is below ${rule.min}: ${value}`);
    if (rule.max !== undefined && value > rule.max)
      this.fail(name, `is above ${rule.max}: ${value}`);
  }

  integer(name: string, rule: NumberRule = {}): number {
    this.#record(name, describeRange("whole number", rule), rule.default);
    const value = this.number(name, rule);
    if (!Number.isInteger(value)) this.fail(name, `is not a whole number: ${value}`);
    return value;
  }

  /** Fractions are allowed. Returns milliseconds. */
  seconds(name: string, defaultSeconds: number, minSeconds = 0, maxSeconds?: number): number {
    const limits = maxSeconds === undefined ? {} : { max: maxSeconds };
    const rule = { default: defaultSeconds, min: minSeconds, ...limits };
    this.#record(name, describeRange("seconds", rule), defaultSeconds);
    return Math.round(this.number(name, rule) * 1000);
  }

  secondsList(name: string, defaultSeconds: readonly number[]): readonly number[] {
    this.#record(name, "list of seconds", defaultSeconds.join(","));
    const text = this.find(name);
    const parts =
      text === undefined ? defaultSeconds : text.split(",").map((part) => Number(part.trim()));
    if (parts.length === 0 || parts.some((part) => !Number.isFinite(part) || part < 0)) {
      this.fail(name, `is not a list of seconds: ${text ?? ""}`);
      return defaultSeconds.map((part) => part * 1000);
    }
    return parts.map((part) => Math.round(part * 1000));
  }

  oneOf<const T extends string>(name: string, values: readonly T[], defaultValue: NoInfer<T>): T {
    this.#record(name, describeChoice(values), defaultValue);
    const text = this.find(name) ?? defaultValue;
    const found = values.find((value) => value === text);
    if (found === undefined) this.fail(name, `is not one of ${values.join(", ")}: ${text}`);
    return found ?? defaultValue;
  }

  boolean(name: string, defaultValue: boolean): boolean {
    return this.oneOf(name, ["true", "false"], defaultValue ? "true" : "false") === "true";
  }

  url(name: string, defaultValue?: string): string {
    this.#record(name, "http address", defaultValue);
    const text = this.string(name, defaultValue === undefined ? {} : { default: defaultValue });
    if (text !== "" && !/^https?:\/\/[^/\s]+/.test(text))
      this.fail(name, `is not an http address: ${text}`);
    return text.replace(/\/+$/, "");
  }

  /** Comma-separated, without empty entries; empty when absent. */
  list(name: string): readonly string[] {
    this.#record(name, "list", "");
    return splitList(this.find(name) ?? "");
  }

  /** A list of allowed values; empty when absent. */
  someOf<const T extends string>(name: string, values: readonly T[]): readonly T[] {
    this.#record(name, `list of ${describeChoice(values)}`, "");
    const parts = splitList(this.find(name) ?? "");
    const unknown = parts.filter((part) => !values.some((value) => value === part));
    if (unknown.length > 0)
      this.fail(name, `contains ${unknown.join(", ")}, which is not one of ${values.join(", ")}`);
    return values.filter((value) => parts.includes(value));
  }

  /** At least one secret, each with at least `minLength` characters. */
  secrets(name: string, minLength: number): readonly [string, ...string[]] {
    this.#record(name, `list of texts, at least ${minLength} characters each`);
    const secrets = splitList(this.find(name) ?? "");
    if (secrets.some((each) => each.length < minLength))
      this.fail(name, `needs at least ${minLength} characters in each place`);
    const [first, ...others] = secrets;
    if (first === undefined) this.fail(name, "is required");
    return [first ?? "", ...others];
  }
}

function splitList(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
