import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/**
 * A phrase in a file that breaks a language rule of CONTRIBUTING.md, with the line and the advice
 * what to write.
 */
export interface Finding {
  readonly line: number;
  readonly found: string;
  readonly advice: string;
}

const ACTOR = "name the actor";

/**
 * The language rules: words that almost always make a sentence hard to understand, and what to
 * write instead.
 */
const RULES: readonly (readonly [words: RegExp, advice: string])[] = [
  // The language check permits `nobody` in quotes, because it is the name of a Unix user.
  [/(?<![`"'])\b(?:nobody|somebody|whoever|hardly)\b(?![`"'])/gi, ACTOR],
  [/\bso (?:long|many)\b(?! as\b| that\b)/gi, "say how long or how many, with the unit"],
  [/(?<!\bthere )\bis (?:no|none)\b(?! (?:longer|more|less)\b)/gi, 'write "is not"'],
  [/films?/gi, 'write "video"'],
  // The column `last_news_at` of the posts service is still to be renamed.
  [/(?<!last_)\b[Nn]ews\b|[a-z]News(?=[A-Z]|\b)/g, 'write "update"'],
  [
    /(?<!\b(?:took|takes?|moves?|throws?) (?:\S+ ){0,3})\baway\b/gi,
    'write "unavailable", or leave it out',
  ],
  [/gently/gi, "say what happens"],
  [/workshops?/gi, 'write "context"'],
  [/poison(?:ed|s)?/gi, 'write "crash-looping"'],
  [/wholesome/gi, 'write "healthy"'],
  [/happenings?/gi, 'write "event"'],
  [/surroundings/gi, 'write "dependencies"'],
  [/(?<!\/)tickets?/gi, 'write "authorization", or "connect link" for its address'],
];

/** A word boundary that also stands beside `_`, which `\b` takes for a letter. */
const BOUNDARY = "(?:(?<![A-Za-z0-9])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?![A-Za-z0-9]))";

const CHECKED = /\.(?:tsx?|mjs|md|sql|proto|ya?ml|json)$|(?:^|\/)(?:Dockerfile|run)$/;

/**
 * Files that the language check skips: generated files, third-party texts, and the files that list
 * the rejected words.
 */
const NOT_CHECKED =
  /^(?:packages\/contracts\/gen\/|lint\/language|CONTRIBUTING\.md$|patches\/)|top-level-domains\.ts$|graph-parameters\.json$|pnpm-lock\.yaml$|kubernetes-/;

/**
 * Matches a line break and the comment mark after it, so that the language check also finds a
 * phrase that continues on the next line of a comment.
 */
const LINE_BREAK = /\n[ \t]*(?:\*(?!\/)|\/\/|#|--)?[ \t]*/g;

/** Returns every phrase of a text that breaks a language rule, in the order of the rules. */
export function findUnclearWords(text: string): readonly Finding[] {
  const flat = text.replaceAll(LINE_BREAK, (lineBreak) => ` ${" ".repeat(lineBreak.length - 1)}`);
  const spaced = /\s+/g;
  return RULES.flatMap(([words, advice]) => {
    const source = words.source.replaceAll(" ", "[ _]+").replaceAll("\\b", BOUNDARY);
    const loose = new RegExp(source, words.flags);
    return [...flat.matchAll(loose)].map((match) => ({
      line: text.slice(0, match.index).split("\n").length,
      found: match[0].trim().replaceAll(spaced, " "),
      advice,
    }));
  });
}

/**
 * Runs the language check on all files that git tracks, and returns each finding as
 * `file:line: "words": advice`.
 */
export function checkRepository(root: string): readonly string[] {
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split(
    "\0",
  );
  return files
    .filter((file) => CHECKED.test(file) && !NOT_CHECKED.test(file))
    .flatMap((file) =>
      findUnclearWords(readFileSync(resolve(root, file), "utf8")).map(
        ({ line, found, advice }) => `${file}:${line}: "${found}": ${advice}`,
      ),
    );
}
