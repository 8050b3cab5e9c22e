import type { PostOption, PostOptions } from "./post.ts";

/**
 * The content that one target publishes. A field that neither the account's nor the platform's option sets is absent.
 */
export interface EffectiveContent {
  readonly text: string;
  readonly title?: string;
  readonly privacy?: string;
  readonly tags?: readonly string[];
}

/** The two post-option keys that apply to one target: its account and its platform. */
interface TargetKeys {
  readonly accountId: string;
  readonly platform: string;
}

function optionOf(options: PostOptions, key: string): PostOption | undefined {
  // Without this check, a key such as `constructor` would find a property of every object.
  return Object.hasOwn(options, key) ? options[key] : undefined;
}

/**
 * Returns the key of the post option that sets a field of a target. The account's option takes precedence over the
 * platform's option; undefined if neither sets the field.
 */
export function findOptionKey(
  options: PostOptions,
  { accountId, platform }: TargetKeys,
  field: keyof PostOption,
): string | undefined {
  return [accountId, platform].find((key) => optionOf(options, key)?.[field] !== undefined);
}

/**
 * Returns the text and options of one target. Each field has the value of the account's option, otherwise of the
 * platform's option, otherwise of the post.
 */
export function effectiveContent(
  content: string,
  options: PostOptions,
  { accountId, platform }: TargetKeys,
): EffectiveContent {
  const { content: text = content, ...rest } = {
    ...optionOf(options, platform),
    ...optionOf(options, accountId),
  };
  return { text, ...rest };
}
