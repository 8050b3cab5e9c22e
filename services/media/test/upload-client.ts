import { once } from "node:events";
import { request, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { pipeline } from "node:stream/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { CreateUploadResponse } from "@postrider/contracts/media/v1/media_service_pb";
import { toServiceError } from "@postrider/shared/errors/connect";
import { newId } from "@postrider/shared/ids";
import { GATEWAY, type TestMedia } from "./media-fixture.ts";

export type Grant = CreateUploadResponse & { readonly workspaceId: string };

/** Creates an upload grant for `bytes` bytes in a new workspace. */
export async function createGrant(
  { media }: Pick<TestMedia, "media">,
  bytes: number,
  change: { readonly contentType?: string; readonly workspaceId?: string } = {},
): Promise<Grant> {
  const { workspaceId = newId(), contentType = "image/png" } = change;
  const grant = await media.createUpload({
    workspaceId,
    fileName: "a.png",
    contentType,
    bytes: BigInt(bytes),
  });
  return { ...grant, workspaceId };
}

export interface Answer {
  readonly status: number;
  /** The machine-readable reason of an error response. */
  readonly reason?: string;
  readonly details?: readonly { readonly code: string }[];
}

/** Starts an upload to the media service as the gateway does; the caller sends the body. */
export function openUpload(url: string, path: string, headers: OutgoingHttpHeaders) {
  return request(`${url}/uploads/${path}`, {
    method: "PUT",
    headers: { ...GATEWAY, ...headers },
  });
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const body = Buffer.concat(await Array.fromAsync(response));
  const status = response.statusCode ?? 0;
  if (status < 400) return { status };
  const fallback = new ConnectError("unreadable", Code.Unknown);
  const { reason, violations } = toServiceError(errorFromJsonBytes(body, new Headers(), fallback));
  return { status, reason, details: violations.map(({ path: _path, ...rest }) => rest) };
}

/** Uploads a body with its Content-Length to the media service; `headers` override the defaults. */
export async function upload(
  { url }: Pick<TestMedia, "url">,
  grant: Pick<Grant, "uploadPath" | "uploadToken">,
  body: Buffer,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> {
  const outgoing = openUpload(url, grant.uploadPath, {
    "x-upload-token": grant.uploadToken,
    "content-length": body.length,
    ...headers,
  });
  // An error while sending is ignored, because the media service may answer and close the
  // connection before it has read the whole body.
  outgoing.on("error", () => {});
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return await readAnswer(response);
}

/** Uploads a body to the media service with chunked transfer encoding, without a Content-Length. */
export async function uploadChunked(
  { url }: Pick<TestMedia, "url">,
  grant: Pick<Grant, "uploadPath" | "uploadToken">,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<Answer> {
  const outgoing = openUpload(url, grant.uploadPath, {
    "x-upload-token": grant.uploadToken,
    "transfer-encoding": "chunked",
  });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  pipeline(chunks, outgoing).catch(() => undefined);
  const [response] = await answered;
  return await readAnswer(response);
}
