import { type FormPart, multipartBody } from "#src/http/multipart.ts";
import { jsonBody, type RequestBody } from "#src/http/platform-request.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { toChatFields } from "#src/telegram/chat-address.ts";
import { SETTINGS } from "#src/telegram/facts.ts";

export interface MessageRequest {
  readonly method: string;
  readonly body: RequestBody;
}

type Fields = Readonly<Record<string, string | number | boolean>>;
type Kind = "photo" | "video" | "animation";

const METHODS: Readonly<Record<Kind, string>> = {
  photo: "sendPhoto",
  video: "sendVideo",
  animation: "sendAnimation",
};

/** Telegram evaluates the name of a file as well as its bytes. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/webp": "webp",
  "image/gif": "gif",
  "video/mp4": "mp4",
};

function kindOf({ kind, contentType }: PublicationMedia): Kind {
  if (kind === "video") return "video";
  return contentType === "image/gif" ? "animation" : "photo";
}

/** Clients need them to show the video before it is loaded. */
function videoFields(media: PublicationMedia): Fields {
  const { width, height, durationMs } = media;
  if (kindOf(media) === "photo") return {};
  return {
    ...(width === null || height === null ? {} : { width, height }),
    ...(durationMs === null ? {} : { duration: Math.round(durationMs / 1000) }),
    ...(media.kind === "video" ? { supports_streaming: true } : {}),
  };
}

/** Without a parse mode, Telegram shows markup as plain text. */
function formatFields({ settings }: Publication): Fields {
  return readSettings(SETTINGS, settings).format === "html" ? { parse_mode: "HTML" } : {};
}

function captionFields(publication: Publication): Fields {
  const { text } = publication;
  return text === "" ? {} : { caption: text, ...formatFields(publication) };
}

function deliveryFields({ externalId, settings }: Publication): Fields {
  const { silent } = readSettings(SETTINGS, settings);
  return { ...toChatFields(externalId), ...(silent ? { disable_notification: true } : {}) };
}

function toParts(fields: Fields): readonly FormPart[] {
  return Object.entries(fields).map(([name, value]) => ({ name, value: String(value) }));
}

function toFile(name: string, media: PublicationMedia): FormPart {
  const { contentType } = media;
  const fileName = `${name}.${EXTENSIONS[contentType] ?? "bin"}`;
  return { name, fileName, contentType, source: mediaBytes(media) };
}

function toSingle(publication: Publication, media: PublicationMedia): MessageRequest {
  const kind = kindOf(media);
  const fields = {
    ...deliveryFields(publication),
    ...captionFields(publication),
    ...videoFields(media),
  };
  return {
    method: METHODS[kind],
    body: multipartBody([...toParts(fields), toFile(kind, media)]),
  };
}

function toAlbum(publication: Publication): MessageRequest {
  const { media } = publication;
  const entries = media.map((one, index) => ({
    type: kindOf(one),
    media: `attach://file${index}`,
    ...(index === 0 ? captionFields(publication) : {}),
    ...videoFields(one),
  }));
  const fields = { ...deliveryFields(publication), media: JSON.stringify(entries) };
  const files = media.map((one, index) => toFile(`file${index}`, one));
  return { method: "sendMediaGroup", body: multipartBody([...toParts(fields), ...files]) };
}

function toText(publication: Publication): MessageRequest {
  const { linkPreview } = readSettings(SETTINGS, publication.settings);
  const content = {
    ...deliveryFields(publication),
    text: publication.text,
    ...formatFields(publication),
    ...(linkPreview ? {} : { link_preview_options: { is_disabled: true } }),
  };
  return { method: "sendMessage", body: jsonBody(content) };
}

/** Files are never sent as documents. */
export function toMessageRequest(publication: Publication): MessageRequest {
  const [first, second] = publication.media;
  if (first === undefined) return toText(publication);
  return second === undefined ? toSingle(publication, first) : toAlbum(publication);
}
