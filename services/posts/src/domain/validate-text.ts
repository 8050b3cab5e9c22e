import type { PlatformRules, TitleRules } from "@postrider/platforms/rules";
import type { AttachedMedia, TextCounter } from "@postrider/platforms/text/text";
import { countHashtags, countMentions, effectiveLimits } from "@postrider/platforms/text/text";
import type { TargetField, TargetInput, TargetMedia, TargetViolation } from "./target-violation.ts";
import { above } from "./target-violation.ts";

/** Judges the text of a target. A text of white space only counts as none. */
export function validateText(
  { text, media }: TargetInput,
  rules: PlatformRules,
  count: TextCounter,
): TargetViolation[] {
  if (text.trim() === "" && media.length === 0) {
    return [{ code: "content_required", field: "content" }];
  }
  const { maxHashtags, maxMentions, forbidden } = rules.text;
  return [
    ...effectiveLimits(rules.text, attachedMedia(media)).flatMap(({ unit, max }) =>
      above({ code: "content_too_long", field: "content" }, count(text, unit), max),
    ),
    ...above({ code: "too_many_hashtags", field: "content" }, countHashtags(text), maxHashtags),
    ...above({ code: "too_many_mentions", field: "content" }, countMentions(text), maxMentions),
    ...forbiddenCharacters("content", text, forbidden),
  ];
}

/** Judges the title of a target: where it must be, where it may be, and its length. */
export function validateTitle(
  { title = "", media }: TargetInput,
  rules: PlatformRules,
  count: TextCounter,
): TargetViolation[] {
  const { rule, max, unit = "utf16", forbidden } = rules.title;
  if (title.trim() === "") {
    return rule === "required" ? [{ code: "title_required", field: "title" }] : [];
  }
  if (!takesTitle(rules.title, media)) return [{ code: "title_unsupported", field: "title" }];
  return [
    ...above({ code: "title_too_long", field: "title" }, count(title, unit), max),
    ...forbiddenCharacters("title", title, forbidden),
  ];
}

function takesTitle({ rule, appliesTo }: TitleRules, media: readonly TargetMedia[]): boolean {
  if (rule === "none") return false;
  return appliesTo === undefined || appliesTo.includes(kindOf(media));
}

/** What a post with these media is to a platform that gives titles to some kinds only. */
function kindOf(media: readonly TargetMedia[]): "text" | "image" | "carousel" | "video" {
  const attached = attachedMedia(media);
  if (attached === "none") return "text";
  if (attached === "video") return "video";
  return media.length === 1 ? "image" : "carousel";
}

function attachedMedia(media: readonly TargetMedia[]): AttachedMedia {
  if (media.length === 0) return "none";
  return media.some(({ kind }) => kind === "video") ? "video" : "image";
}

function forbiddenCharacters(
  field: TargetField,
  text: string,
  forbidden: readonly string[] = [],
): TargetViolation[] {
  const found = forbidden.some((character) => text.includes(character));
  return found ? [{ code: "forbidden_characters", field }] : [];
}
