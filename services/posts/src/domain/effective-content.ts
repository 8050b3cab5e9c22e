import type { PostOption, PostOptions } from "./post.ts";

/** What one target publishes. An absent field was given nowhere. */
export interface EffectiveContent {
  readonly text: string;
  readonly title?: string;
  readonly privacy?: string;
  readonly tags?: readonly string[];
}

/** The two keys under which options reach one target. */
interface TargetKeys {
  readonly accountId: string;
  readonly platform: string;
}

function optionOf(options: PostOptions, key: string): PostOption | undefined {
  // A key such as `constructor` is no option that every post has.
  return Object.hasOwn(options, key) ? options[key] : undefined;
}

/** The key whose option gives a field to a target, the account's before the platform's; undefined when neither does. */
export function findOptionKey(
  options: PostOptions,
  { accountId, platform }: TargetKeys,
  field: keyof PostOption,
): string | undefined {
  return [accountId, platform].find((key) => optionOf(options, key)?.[field] !== undefined);
}

/** The post's text and options as they reach one target: field by field, account over platform over the post. */
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
