import { choice, flag } from "#src/settings/field.ts";

export const SETTINGS = {
  format: choice(
    ["plain", "html"],
    "plain",
    "How the text is read: `plain` = as it is, `html` = with Telegram's HTML tags, for example `<b>`; `<`, `>` and `&` are then written `&lt;`, `&gt;` and `&amp;`.",
  ),
  silent: flag(false, "Whether the readers get the post without a sound."),
  linkPreview: flag(true, "Whether a text with a link shows a preview of the linked page."),
};
