import { choice } from "#src/settings/field.ts";

export const SETTINGS = {
  replySettings: choice(
    ["everyone", "following", "mentioned"],
    "everyone",
    "Who may reply to posts: `everyone`, the accounts that the account follows (`following`) or those that the post mentions (`mentioned`).",
  ),
};
