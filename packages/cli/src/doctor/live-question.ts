import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { LeastVisible } from "@postrider/platforms/diagnosis/least-visible";
import { isPlatformId, type PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { findText, type Arguments, type Terminal } from "#src/command.ts";
import { CommandFailure } from "#src/failures.ts";

const UPLOAD = "docs/doctor.md shows how to upload one";

/** Why delivery does not start a live check, and what to do about it, by error code. */
export const REASONS: Readonly<Record<string, string>> = {
  public_post:
    "this platform has no post that only the owner sees: readers would see the post until it is deleted. Repeat the command with --public if that is acceptable",
  media_required: `this platform takes no posts of text: give --media with the id of a picture or a video of the account's workspace; ${UPLOAD}`,
  video_required: `this platform takes only videos: give --media with the id of a video of the account's workspace; ${UPLOAD}`,
  // The tool has found the account before, so the error `not_found` means that the media file does
  // not exist.
  not_found:
    "the account's workspace has no media with this id that is ready; an upload is ready when the API shows its status `ready`",
  publishing_paused:
    "publishing is paused for the platform, the account or the workspace; see `postrider pauses`",
  publishing_held:
    "publishing is stopped because the data was restored or copied; see `postrider recovery status`",
  account_reconnect_required:
    "the account must be connected again first; `postrider doctor account` without --live says why",
};

/** Who sees the post of a live check, as a part of a sentence. */
const SEEN_BY = {
  owner: "that only the account's owner sees",
  unpublished: "that stays unpublished, so no reader sees it",
  readers: "that readers see until it is deleted",
} satisfies Record<LeastVisible["visibility"], string>;

function describeDeletion(platform: PlatformId): string {
  const { displayName } = PLATFORM_FACTS[platform].rules;
  const rule: { readonly supported: boolean; readonly condition?: string } =
    PLATFORM_FACTS[platform].rules.delete;
  if (!rule.supported) return ` ${displayName} lets no program delete it: do it in the app.`;
  return rule.condition === "facebook_login_only"
    ? " It is deleted afterwards if the account was connected with the Facebook login; otherwise delete it in the app."
    : " It is deleted afterwards.";
}

function describePost(platform: PlatformId): string {
  const { visibility, needs }: LeastVisible = PLATFORM_FACTS[platform].liveCheck;
  const what = needs === "video" ? "video" : "post";
  return `one ${what} ${SEEN_BY[visibility]}.${describeDeletion(platform)}`;
}

/**
 * Checks that the options of `doctor account --live` allow the post that the platform needs.
 *
 * @throws CommandFailure when they do not.
 */
function checkOptions(platform: PlatformId, args: Arguments): void {
  const { visibility, needs }: LeastVisible = PLATFORM_FACTS[platform].liveCheck;
  const refuse = (code: string) => new CommandFailure(code, REASONS[code] ?? code);
  if (visibility === "readers" && args.values.public !== true) throw refuse("public_post");
  if (needs !== undefined && findText(args, "media") === undefined)
    throw refuse(`${needs}_required`);
}

/**
 * Asks the operator whether the live check may publish a post. With `--yes`, it does not ask.
 *
 * @throws CommandFailure for a missing option, before the question; and when the answer is not
 *   "yes".
 */
export async function confirmLiveCheck(
  args: Arguments,
  terminal: Terminal,
  { platform, username }: Pick<Account, "platform" | "username">,
): Promise<void> {
  // Delivery checks the same options as the tool, and does so for platforms that this version of
  // the tool does not know.
  if (isPlatformId(platform)) checkOptions(platform, args);
  if (args.values.yes === true) return;
  const post = isPlatformId(platform) ? describePost(platform) : "one post.";
  const name = isPlatformId(platform) ? PLATFORM_FACTS[platform].rules.displayName : platform;
  const answer = await terminal.readLine(
    `The check makes, as ${username} on ${name}, ${post} Type "yes" to go on`,
  );
  if (answer !== "yes")
    throw new CommandFailure(
      "not_confirmed",
      'nothing was published, because the answer was not "yes"',
    );
}
