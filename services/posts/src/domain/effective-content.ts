import type { PostOption, PostOptions } from "./post.ts";

/** A field is absent if neither the post nor its options set it. */
export interface EffectiveContent {
  readonly text: string;
  readonly title?: string;
  readonly privacy?: string;
  readonly tags?: readonly string[];
}

interface TargetKeys {
  readonly accountId: string;
  readonly platform: string;
}

function optionOf(options: PostOptions, key: string): PostOption | undefined {
  // Without `Object.hasOwn`, the option key `constructor` would return an inherited property.
  return Object.hasOwn(options, key) ? options[key] : undefined;
}

/** The account's option wins over that of the platform; undefined if neither has the field. */
export function findOptionKey(
  options: PostOptions,
  { accountId, platform }: TargetKeys,
  field: keyof PostOption,
): string | undefined {
  return [accountId, platform].find((key) => optionOf(options, key)?.[field] !== undefined);
}

/**
 * Each field from the option of the account, otherwise of its platform, otherwise from the post.
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
