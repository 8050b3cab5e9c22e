import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { PlatformRules, TagRules, TextUnit, TitleRules } from "@postrider/platforms/rules";
import { readSettings } from "@postrider/platforms/settings/read-settings";
import { MAX_MARKS } from "@postrider/platforms/text/normalize-text";
import {
  createTextCounter,
  effectiveLimits,
  INVALID_MARKUP,
  type AttachedMedia,
  type TextCounter,
} from "@postrider/platforms/text/text";
import { UNIT_NAMES } from "@postrider/platforms/text/unit-names";
import type { TargetField, TargetInput, TargetMedia, TargetViolation } from "./post.ts";
import { farAbove, forbiddenCharacters, tooLong } from "./text-violations.ts";
import { above, validateMedia } from "./validate-media.ts";

/**
 * Content is never shortened or converted to fit. All accounts of a post share one counter, so that
 * a shared text is measured only once.
 */
export function validateTarget(
  target: TargetInput,
  count: TextCounter = createTextCounter(),
): TargetViolation[] {
  const rules: PlatformRules = PLATFORM_FACTS[target.platform].rules;
  return [
    ...validateText(target, rules, count),
    ...validateTitle(target, rules, count),
    ...validatePrivacy(target, rules),
    ...validateDisclosure(target),
    ...validateTags(target, rules.tags),
    ...validateMedia(target, rules),
  ];
}

/**
 * Checks the text of a post against the rules of one platform. White space alone counts as no text.
 */
function validateText(
  target: TargetInput,
  rules: PlatformRules,
  count: TextCounter,
): TargetViolation[] {
  const { text, media, traits } = target;
  const counted = { text, field: "content", code: "content_too_long" } as const;
  const limits = effectiveLimits(rules.text, attachedMedia(media), traits);
  const isHtml = usesHtml(target);
  const far = isHtml
    ? tooLong(counted, { unit: "utf8_bytes", max: MAX_HTML_BYTES }, { count })
    : farAbove(counted, limits, count);
  if (far.length > 0) return far;
  if (text.trim() === "" && media.length === 0)
    return [{ code: "content_required", field: "content" }];

  // The length of a text with a very long run of combining marks is not counted, because counting
  // normalizes the text, which takes quadratic time.
  const marks = longMarkRun("content", text, count);
  if (marks.length > 0) return marks;
  const markup = isHtml ? validateHtml(target, count) : [];
  if (markup.length > 0) return markup;
  const measureOf = (unit: TextUnit) => (isHtml && unit === "utf16" ? "telegram_html" : unit);
  const { maxHashtags, maxMentions, maxCashtags, forbidden } = rules.text;
  return [
    ...limits.flatMap((limit) =>
      tooLong(counted, limit, { count, measure: measureOf(limit.unit) }),
    ),
    ...tooMany({ code: "too_many_hashtags", field: "content" }, maxHashtags, (max) =>
      count(text, "hashtags", max),
    ),
    ...tooMany({ code: "too_many_mentions", field: "content" }, maxMentions, (max) =>
      count(text, "mentions", max),
    ),
    ...tooMany({ code: "too_many_cashtags", field: "content" }, maxCashtags, (max) =>
      count(text, "cashtags", max),
    ),
    ...forbiddenCharacters("content", text, forbidden),
  ];
}

/** Whether Telegram reads the text of a post as HTML. */
function usesHtml({ platform, settings }: TargetInput): boolean {
  return (
    platform === "telegram" &&
    readSettings(PLATFORM_FACTS.telegram.settings, settings).format === "html"
  );
}

/** Maximum number of bytes of a Telegram message before its markup is parsed. */
const MAX_HTML_BYTES = 32_768;

function validateHtml({ text, media }: TargetInput, count: TextCounter): TargetViolation[] {
  const field = "content";
  const length = count(text, "telegram_html");
  if (length === INVALID_MARKUP) return [{ code: "markup_invalid", field }];
  return length === 0 && media.length === 0 ? [{ code: "content_required", field }] : [];
}

function validateTitle(
  { title = "", media }: TargetInput,
  rules: PlatformRules,
  count: TextCounter,
): TargetViolation[] {
  const { rule, max, unit = "utf16", forbidden } = rules.title;
  if (title.trim() === "")
    return rule === "required" ? [{ code: "title_required", field: "title" }] : [];

  if (!takesTitle(rules.title, media)) return [{ code: "title_unsupported", field: "title" }];
  const counted = { text: title, field: "title", code: "title_too_long" } as const;
  const limits = max === undefined ? [] : [{ unit, max }];
  const far = farAbove(counted, limits, count);
  if (far.length > 0) return far;
  const marks = longMarkRun("title", title, count);
  if (marks.length > 0) return marks;
  return [
    ...limits.flatMap((limit) => tooLong(counted, limit, { count })),
    ...forbiddenCharacters("title", title, forbidden),
  ];
}

function takesTitle({ rule, appliesTo }: TitleRules, media: readonly TargetMedia[]): boolean {
  if (rule === "none") return false;
  return appliesTo === undefined || appliesTo.includes(kindOf(media));
}

/** Some platforms allow a title only for some kinds of posts. */
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

/** Normalizing a longer run of combining marks takes quadratic time. */
function longMarkRun(field: TargetField, text: string, count: TextCounter): TargetViolation[] {
  return above({ code: "forbidden_characters", field }, count(text, "long_mark_run"), MAX_MARKS);
}

/** Without `actual` if the number is only known to be above. */
function tooMany(
  violation: Pick<TargetViolation, "code" | "field">,
  max: number | undefined,
  countUpTo: (max: number) => number,
): TargetViolation[] {
  if (max === undefined) return [];
  const actual = countUpTo(max);
  if (Number.isFinite(actual)) return above(violation, actual, max);
  return [{ ...violation, limit: max }];
}

/** Values that only one platform has are set in the settings of the account instead. */
const PRIVACIES: ReadonlySet<string> = new Set(["public", "unlisted", "private"]);

/** Also checks what the platform last offered the account. */
function validatePrivacy(
  { platform, privacy, available, settings }: TargetInput,
  rules: PlatformRules,
): TargetViolation[] {
  const { privacies = rules.privacy } =
    PLATFORM_FACTS[platform].offer?.read(available, settings) ?? {};
  const offered = rules.privacy.filter((each) => privacies.includes(each));
  const refused = (code: "privacy_required" | "privacy_unsupported"): TargetViolation[] => [
    { code, field: "privacy", fits: offered.filter((each) => PRIVACIES.has(each)) },
  ];
  if (privacy === undefined)
    return rules.privacyNoDefault === true ? refused("privacy_required") : [];
  return offered.includes(privacy) ? [] : refused("privacy_unsupported");
}

/**
 * Refuses a paid advertisement on TikTok that only its creator would see. Source: content sharing
 * guidelines, 2026-09-11.
 */
function validateDisclosure({ platform, privacy, settings }: TargetInput): TargetViolation[] {
  if (platform !== "tiktok" || privacy === undefined) return [];
  const { disclosure, unlistedAs } = readSettings(PLATFORM_FACTS.tiktok.settings, settings);
  const isPrivate = privacy === "private" || (privacy === "unlisted" && unlistedAs === "only_me");
  return disclosure === "paid" && isPrivate
    ? [{ code: "disclosure_not_private", field: "privacy" }]
    : [];
}

function validateTags({ tags = [] }: TargetInput, rules: TagRules): TargetViolation[] {
  if (tags.length === 0) return [];
  if (rules.mode !== "field") return [{ code: "tags_unsupported", field: "tags" }];
  const violation = { code: "tags_too_long", field: "tags", unit: UNIT_NAMES.utf16 } as const;
  return [
    ...above(violation, tagsLength(tags, rules), rules.maxTotal),
    ...tags.flatMap((tag, index) => validateTag(tag, rules).map((each) => ({ ...each, index }))),
  ];
}

function validateTag(tag: string, { refusesBlank, forbidden }: TagRules): TargetViolation[] {
  if (refusesBlank === true && tag.trim() === "") return [{ code: "tag_blank", field: "tags" }];
  return forbiddenCharacters("tags", tag, forbidden);
}

/**
 * Returns the length of all tags as YouTube counts them: joined with commas, and with quotation
 * marks around a tag that contains a space.
 */
function tagsLength(tags: readonly string[], rules: TagRules): number {
  const commas = tags.length - 1;
  return tags.reduce((total, tag) => {
    const quotes = rules.quotesCountForSpaces === true && tag.includes(" ") ? 2 : 0;
    return total + tag.length + quotes;
  }, commas);
}
