import type { PostOption, PostOptions } from "./post.ts";

/** What one target publishes. An absent field was given neither for the account nor for the platform. */
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
  // Without this check, a key such as `constructor` would find a property of every object.
  return Object.hasOwn(options, key) ? options[key] : undefined;
}

/** The key whose option sets a field of a target: the account's comes before the platform's; undefined if neither sets it. */
export function findOptionKey(
  options: PostOptions,
  { accountId, platform }: TargetKeys,
  field: keyof PostOption,
): string | undefined {
  return [accountId, platform].find((key) => optionOf(options, key)?.[field] !== undefined);
}

/** The text and options of one target: for each field the account's option wins, then the platform's, then the post. */
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
