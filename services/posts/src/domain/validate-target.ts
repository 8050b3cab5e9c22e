import { PLATFORMS } from "@postrider/platforms/registry";
import type { PlatformRules, TagRules } from "@postrider/platforms/rules";
import type { TextCounter } from "@postrider/platforms/text/text";
import { countText } from "@postrider/platforms/text/text";
import type { TargetInput, TargetViolation } from "./target-violation.ts";
import { above } from "./target-violation.ts";
import { validateMedia } from "./validate-media.ts";
import { validateText, validateTitle } from "./validate-text.ts";

/**
 * Every reason for which a platform would refuse a target, or none. Nothing is ever made to fit: what a platform does
 * not take is a violation. Give the targets of one post one counter of `createTextCounter`, so that a text that many
 * of them share is counted once.
 */
export function validateTarget(
  input: TargetInput,
  count: TextCounter = countText,
): TargetViolation[] {
  const rules: PlatformRules = PLATFORMS[input.platform];
  return [
    ...validateText(input, rules, count),
    ...validateTitle(input, rules, count),
    ...validatePrivacy(input, rules),
    ...validateTags(input, rules.tags),
    ...validateMedia(input, rules),
  ];
}

function validatePrivacy({ privacy }: TargetInput, rules: PlatformRules): TargetViolation[] {
  if (privacy === undefined) {
    return rules.privacyNoDefault === true ? [{ code: "privacy_required", field: "privacy" }] : [];
  }
  return rules.privacy.includes(privacy) ? [] : [{ code: "privacy_unsupported", field: "privacy" }];
}

function validateTags({ tags = [] }: TargetInput, rules: TagRules): TargetViolation[] {
  if (tags.length === 0) return [];
  if (rules.mode !== "field") return [{ code: "tags_unsupported", field: "tags" }];
  return above({ code: "tags_too_long", field: "tags" }, tagsLength(tags, rules), rules.maxTotal);
}

/** All tags as the platform joins them: commas in between, quotes around a tag with a space where those count. */
function tagsLength(tags: readonly string[], rules: TagRules): number {
  const commas = tags.length - 1;
  return tags.reduce((total, tag) => {
    const quotes = rules.quotesCountForSpaces === true && tag.includes(" ") ? 2 : 0;
    return total + tag.length + quotes;
  }, commas);
}
