import type { ReadyMedia } from "../gen/openapi.ts";
import type { Operations } from "../gen/operations.ts";
import { PostriderConnectionError, PostriderError, toError } from "./errors.ts";
import { type FileData, type FileFacts, type FileSource, toFileSource } from "./file-source.ts";
import type { RequestOptions } from "./operation-types.ts";
import { repeat } from "./repeat.ts";

export interface UploadProgress {
  readonly sentBytes: number;
  readonly totalBytes: number;
}

interface PutOptions {
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: typeof fetch | undefined;
}

interface Xhr extends EventTarget {
  readonly upload: EventTarget;
  readonly status: number;
  readonly responseText: string;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: Blob): void;
  abort(): void;
}

async function whenLoaded(xhr: Xhr): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = () => reject(new TypeError("the connection failed"));
    xhr.addEventListener("load", () => resolve());
    xhr.addEventListener("error", fail);
    xhr.addEventListener("abort", fail);
  });
}

function toResponse(xhr: Xhr): Response {
  const headers = new Headers();
  for (const name of ["retry-after", "x-request-id"]) {
    const value = xhr.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  const body = xhr.status === 204 ? null : xhr.responseText;
  return new Response(body, { status: xhr.status, headers });
}

/** Browsers report the progress of no other kind of request. */
async function putByXhr(
  xhr: Xhr,
  url: string,
  file: Blob,
  { contentType }: FileSource,
  { onProgress, signal }: PutOptions,
): Promise<Response> {
  const abort = (): void => xhr.abort();
  signal?.addEventListener("abort", abort);
  try {
    const loaded = whenLoaded(xhr);
    xhr.upload.addEventListener("progress", (event) => {
      const { loaded: sentBytes } = event as unknown as { readonly loaded: number };
      onProgress?.({ sentBytes, totalBytes: file.size });
    });
    xhr.open("PUT", url);
    xhr.setRequestHeader("content-type", contentType);
    xhr.send(file);
    await loaded;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
  return toResponse(xhr);
}

/** The stream reports how many bytes were taken from it. */
function counted({ body, bytes }: FileSource, onProgress: PutOptions["onProgress"]) {
  const stream = (body instanceof Blob ? body.stream() : body) as ReadableStream<Uint8Array>;
  let sentBytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      controller.enqueue(chunk);
      sentBytes += chunk.byteLength;
      onProgress?.({ sentBytes, totalBytes: bytes });
    },
  });
  return stream.pipeThrough(count);
}

async function putByFetch(url: string, file: FileSource, options: PutOptions): Promise<Response> {
  const { body, bytes, contentType } = file;
  const { onProgress, signal } = options;
  const headers: Record<string, string> = { "content-type": contentType };
  const init = { method: "PUT", headers, signal: signal ?? null };
  const send = options.fetch ?? fetch;
  // Deno sends every stream without a length, so it gets the whole file.
  if (body instanceof Blob && (onProgress === undefined || "Deno" in globalThis)) {
    const response = await send(url, { ...init, body });
    onProgress?.({ sentBytes: bytes, totalBytes: bytes });
    return response;
  }
  // A stream is sent in chunks without a length unless the header says it, and S3 refuses uploads
  // without a length.
  headers["content-length"] = String(bytes);
  const streamed = { ...init, body: counted(file, onProgress), duplex: "half" as const };
  return await send(url, streamed);
}

async function put(url: string, file: FileSource, options: PutOptions): Promise<Response> {
  const { XMLHttpRequest: Browser } = globalThis as { readonly XMLHttpRequest?: new () => Xhr };
  if (Browser === undefined) return await putByFetch(url, file, options);
  // Most browsers cannot send a stream in a request.
  const blob = file.body instanceof Blob ? file.body : await new Response(file.body).blob();
  return await putByXhr(new Browser(), url, blob, file, options);
}

/**
 * Sends the bytes of a file once, to the `uploadUrl` that `presignUpload` returned. The URL needs
 * no API key, so a web page can send a file to a URL that its server asked for.
 *
 * @throws PostriderError The bytes were refused. PostriderConnectionError The connection failed.
 */
async function putFile(url: string, file: FileSource, options: PutOptions): Promise<void> {
  const { signal } = options;
  signal?.throwIfAborted();
  let response: Response;
  let text: string;
  try {
    response = await put(url, file, options);
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw new PostriderConnectionError("PUT of the file", error);
  }
  if (!response.ok) throw toError(response, text);
}

export interface UploadOptions extends FileFacts, Pick<PutOptions, "onProgress"> {
  readonly signal?: AbortSignal | undefined;
  readonly workspaceId?: string | undefined;
}

interface UploadDependencies extends Pick<Operations, "presignUpload" | "completeUpload"> {
  readonly fetch: typeof fetch | undefined;
  readonly maxRetries: number;
}

/** Asks for an upload address, sends the bytes there, and lets the API check them. */
export async function uploadFile(
  { presignUpload, completeUpload, fetch, maxRetries }: UploadDependencies,
  data: FileData,
  options: UploadOptions = {},
): Promise<ReadyMedia> {
  const { onProgress, signal, workspaceId } = options;
  const file = toFileSource(data, options);
  const { fileName, contentType, bytes } = file;
  const request: RequestOptions = { signal, workspaceId };
  const grant = await presignUpload({ fileName, contentType, bytes }, request);
  const send = async (): Promise<void> => {
    try {
      await putFile(grant.uploadUrl, file, { onProgress, signal, fetch });
    } catch (error) {
      // The file was received already: an earlier request sent it and the answer was lost, or all
      // bytes had arrived before the connection broke.
      const isReceived =
        error instanceof PostriderError && error.code === "upload_already_received";
      if (!isReceived) throw error;
    }
  };
  await (file.body instanceof Blob
    ? repeat(send, { maxRetries, isRepeatable: true, signal })
    : send());
  return await completeUpload(grant.id, {}, request);
}
