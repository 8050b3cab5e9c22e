import { UsageError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";

export interface Arguments {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
}

/** What a command prints at its end: one JSON object with `--json`, otherwise a text for people. */
export interface Result {
  readonly json: object;
  readonly text: string;
  /**
   * Exit code of a command that did its work but found something wrong, such as a failed check;
   * default 0.
   */
  readonly exitCode?: number;
}

export interface Terminal {
  /**
   * Prints a note before the result: one JSON object with `--json`, otherwise a text for people.
   */
  readonly note: (note: Result) => void;
  /** Prints one line of a long result, and waits until standard output has taken it. */
  readonly writeLine: (line: string) => Promise<void>;
  /**
   * Reads one line of standard input. A secret that is read this way appears in no process list and
   * no shell history.
   *
   * @param what The name of the value, for the prompt.
   */
  readonly readLine: (what: string) => Promise<string>;
}

export interface Command {
  readonly words: string;
  /** The options and arguments, as the usage text shows them and as they are parsed. */
  readonly synopsis: string;
  readonly summary: string;
  /** Runs the command. A command that has written its result line by line returns undefined. */
  readonly run: (
    services: Services,
    args: Arguments,
    terminal: Terminal,
  ) => Promise<Result | undefined>;
}

export function findText({ values }: Arguments, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

export function getText(args: Arguments, name: string): string {
  const value = findText(args, name);
  if (value === undefined || value === "") throw new UsageError(`--${name} is required`);
  return value;
}

export function findTexts({ values }: Arguments, name: string): string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function getTexts(args: Arguments, name: string): string[] {
  const texts = findTexts(args, name);
  if (texts.length === 0) throw new UsageError(`--${name} is required`);
  return texts;
}

/**
 * Returns the value of a command-line option that is a whole number of at least `min`, or undefined
 * if the option is missing.
 */
export function findInteger(args: Arguments, name: string, min: number): number | undefined {
  const text = findText(args, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > 2_147_483_647)
    throw new UsageError(`--${name} must be a whole number of at least ${min}, not ${text}`);
  return value;
}

/**
 * Returns the value of a command-line option that is an instant such as 2026-11-20T09:00:00Z, or
 * undefined if the option is missing.
 */
export function findInstant(args: Arguments, name: string): Date | undefined {
  const text = findText(args, name);
  if (text === undefined) return undefined;
  const value = new Date(text);
  if (!/(Z|[+-]\d\d:\d\d)$/i.test(text) || Number.isNaN(value.getTime()))
    throw new UsageError(
      `--${name} must be a time with its offset, such as 2026-11-20T09:00:00Z, not ${text}`,
    );
  return value;
}

export function getPositional({ positionals }: Arguments): string {
  return positionals[0] ?? "";
}
