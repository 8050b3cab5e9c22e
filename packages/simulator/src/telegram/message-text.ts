import { refuse } from "#src/telegram/errors.ts";
import { htmlText } from "#src/telegram/html-markup.ts";
import { markdownText } from "#src/telegram/markdown-markup.ts";
import { textOf } from "#src/telegram/parameters.ts";
import type { Parameters } from "#src/telegram/parameters.ts";

/** Maximum length of a Telegram message text in UTF-16 units, after markup is parsed. */
const MAX_TEXT_UNITS = 4096;
const MAX_CAPTION_UNITS = 1024;
const MAX_RAW_BYTES = 32_768;

function withoutMarkup(text: string, mode: string): string {
  switch (mode.toLowerCase()) {
    case "":
      return text;
    case "html":
      return htmlText(text);
    case "markdownv2":
      return markdownText(text);
    default:
      return refuse("unsupported parse_mode");
  }
}

/** The text of a Telegram message as readers see it, without markup. */
export function messageText(parameters: Parameters): string {
  const raw = textOf(parameters, "text");
  if (Buffer.byteLength(raw, "utf8") > MAX_RAW_BYTES) {
    refuse("message is too long");
  }
  const text = withoutMarkup(raw, textOf(parameters, "parse_mode"));
  if (text.trim() === "") {
    refuse("message text is empty");
  }
  if (text.trim().length > MAX_TEXT_UNITS) {
    refuse("message is too long");
  }
  return text;
}

/**
 * The caption of a Telegram file as readers see it, without markup; empty when the call has no
 * caption.
 */
export function captionText(parameters: Parameters): string {
  const text = withoutMarkup(textOf(parameters, "caption"), textOf(parameters, "parse_mode"));
  return text.trim().length > MAX_CAPTION_UNITS ? refuse("message caption is too long") : text;
}
