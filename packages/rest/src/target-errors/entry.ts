import type { PlatformId } from "@postrider/platforms/platform-id";
import type { Locale } from "#src/locale.ts";

/** A text in all languages. `{name}` and the other placeholders are explained in `phrases.ts`. */
export type Text = Readonly<Record<Locale, string>>;

/** Texts for the platforms for which the general text is wrong. */
export type PlatformTexts = Readonly<Partial<Record<PlatformId, Text>>>;

/** An error of a target, or of an action on a comment. */
export interface TargetErrorEntry {
  /** What happened. It is the message of the error if the platform sent none. */
  readonly cause: Text;
  /** What the user can do about the error. */
  readonly remedy: Text;
  /** What the user can do about the error, for each platform whose advice differs from `remedy`. */
  readonly platforms?: PlatformTexts;
}

/** A cause and a remedy, each in English and in Korean. */
export function entry(
  cause: readonly [en: string, ko: string],
  remedy: readonly [en: string, ko: string],
  platforms?: PlatformTexts,
): TargetErrorEntry {
  return {
    cause: text(...cause),
    remedy: text(...remedy),
    ...(platforms === undefined ? {} : { platforms }),
  };
}

export function text(en: string, ko: string): Text {
  return { en, ko };
}
