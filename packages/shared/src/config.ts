/** Every fault of an environment at once, so that an operator mends it in one go. */
export class ConfigError extends Error {
  override name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
    this.faults = faults;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

interface StringRule {
  readonly default?: string;
  readonly minLength?: number;
}

interface NumberRule {
  readonly default?: number;
  readonly min?: number;
  readonly max?: number;
}

/**
 * Reads typed values from an environment. A fault is recorded, never thrown, and the read goes on with a harmless value;
 * `loadConfig` throws once at the end.
 */
export class EnvReader {
  readonly #env: Environment;
  readonly faults: string[] = [];

  constructor(env: Environment) {
    this.#env = env;
  }

  fail(name: string, message: string): void {
    this.faults.push(`${name} ${message}`);
  }

  /** An empty value counts as absent, as shells and container manifests often set it. */
  optionalString(name: string): string | undefined {
    const value = this.#env[name];
    return value === undefined || value === "" ? undefined : value;
  }

  string(name: string, rule: StringRule = {}): string {
    const value = this.optionalString(name) ?? rule.default;
    if (value === undefined) {
      this.fail(name, "is required");
      return "";
    }
    if (rule.minLength !== undefined && value.length < rule.minLength) {
      this.fail(name, `needs at least ${rule.minLength} characters`);
    }
    return value;
  }

  number(name: string, rule: NumberRule = {}): number {
    const text = this.optionalString(name);
    if (text === undefined) {
      if (rule.default === undefined) this.fail(name, "is required");
      return rule.default ?? 0;
    }
    const value = Number(text);
    if (!Number.isFinite(value)) {
      this.fail(name, `is no number: ${text}`);
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
    const value = this.number(name, rule);
    if (!Number.isInteger(value)) this.fail(name, `is no whole number: ${value}`);
    return value;
  }

  /** A variable in seconds (fractions allowed, at least `minSeconds`), returned in milliseconds. */
  seconds(name: string, defaultSeconds: number, minSeconds = 0): number {
    return Math.round(this.number(name, { default: defaultSeconds, min: minSeconds }) * 1000);
  }

  /** A comma-separated variable in seconds, returned in milliseconds. */
  secondsList(name: string, defaultSeconds: readonly number[]): readonly number[] {
    const text = this.optionalString(name);
    const parts =
      text === undefined ? defaultSeconds : text.split(",").map((part) => Number(part.trim()));
    if (parts.length === 0 || parts.some((part) => !Number.isFinite(part) || part < 0)) {
      this.fail(name, `is no list of seconds: ${text ?? ""}`);
      return defaultSeconds.map((part) => part * 1000);
    }
    return parts.map((part) => Math.round(part * 1000));
  }

  oneOf<const T extends string>(name: string, values: readonly T[], defaultValue: NoInfer<T>): T {
    const text = this.optionalString(name) ?? defaultValue;
    const found = values.find((value) => value === text);
    if (found === undefined) this.fail(name, `is not one of ${values.join(", ")}: ${text}`);
    return found ?? defaultValue;
  }

  boolean(name: string, defaultValue: boolean): boolean {
    return this.oneOf(name, ["true", "false"], defaultValue ? "true" : "false") === "true";
  }

  /** An http(s) address without a trailing slash. */
  url(name: string, defaultValue?: string): string {
    const text = this.string(name, defaultValue === undefined ? {} : { default: defaultValue });
    if (text !== "" && !/^https?:\/\/[^/\s]+/.test(text))
      this.fail(name, `is no http address: ${text}`);
    return text.replace(/\/+$/, "");
  }

  /** Comma-separated, blanks dropped; absent = empty. */
  list(name: string): readonly string[] {
    const text = this.optionalString(name) ?? "";
    return text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  }
}

/** Reads a configuration; throws one `ConfigError` that lists every fault. */
export function loadConfig<T extends object>(
  env: Environment,
  read: (reader: EnvReader) => T,
): Readonly<T> {
  const reader = new EnvReader(env);
  const config = read(reader);
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return Object.freeze(config);
}
