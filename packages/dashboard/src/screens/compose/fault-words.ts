import type { Cure, Fault } from "./faults.ts";
import type { composeEn } from "./words-en.ts";

type Words = typeof composeEn;

interface Naming {
  readonly words: Words;
  readonly language: string;
  /** How an account is called: by its platform, or its own name where that is chosen twice. */
  readonly nameOf: (accountId: string | undefined) => string;
}

/** A lead that stands out, and the rest of the sentence. */
export function faultWords(fault: Fault, naming: Naming): readonly string[] {
  const { words, language, nameOf } = naming;
  const { code, accountId, found = "", message } = fault;
  const say = words.faults[code];
  if (say === undefined) return [message, ""];
  const format = (number: number | undefined) =>
    number === undefined ? "" : new Intl.NumberFormat(language).format(number);
  const limit = withUnit(fault, format(fault.limit), words);
  return say(nameOf(accountId), limit, format(fault.actual), found);
}

function withUnit({ code, unit }: Fault, limit: string, words: Words): string {
  if (unit === "bytes") return `${limit} ${words.units.bytes}`;
  return code.endsWith("_too_long") ? words.characters(limit) : limit;
}

export function cureWords(cure: Cure, { code }: Fault, { words, nameOf }: Naming): string {
  const { cures } = words;
  if (cure.kind === "go") return cures.go[cure.place];
  if (cure.kind === "remove_media") return cures.removeFile;
  if (cure.kind === "take_away") return cures.takeAway[cure.field];
  const name = nameOf(cure.accountId);
  if (cure.kind === "leave_out") return cures.leaveOut(name);
  return code === "content_too_long" ? cures.shorter(name) : cures.another(name);
}
