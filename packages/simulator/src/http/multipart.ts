import { type Call, contentType, formOf, jsonObject } from "#src/http/call.ts";

export interface FormPart {
  readonly name: string;
  readonly fileName?: string;
  readonly contentType?: string;
  readonly content: Buffer;
}

const HEAD_END = Buffer.from("\r\n\r\n");

function parameterOf(headers: string, name: string): string | undefined {
  const found = new RegExp(`[;\\s]${name}=(?:"([^"\\r\\n]*)"|([^";\\s]+))`, "i").exec(headers);
  return found?.[1] ?? found?.[2];
}

function partOf(bytes: Buffer): FormPart | undefined {
  const end = bytes.indexOf(HEAD_END);
  const headers = bytes.toString("utf8", 0, Math.max(end, 0));
  const name = parameterOf(headers, "name");
  if (end === -1 || name === undefined || !/^content-disposition: *form-data;/im.test(headers))
    return undefined;
  const fileName = parameterOf(headers, "filename");
  const type = /^content-type: *([^\r\n]+)$/im.exec(headers)?.[1];
  return {
    name,
    ...(fileName === undefined ? {} : { fileName }),
    ...(type === undefined ? {} : { contentType: type.trim() }),
    content: bytes.subarray(end + HEAD_END.length),
  };
}

/**
 * The fields of a body: of a JSON object, a form, or a multipart form, in which the value of a file
 * is its bytes. Undefined when the body is not valid; none for a body of another type.
 */
export function bodyFields(call: Call): Iterable<readonly [string, unknown]> | undefined {
  switch (contentType(call)) {
    case "application/json":
      return call.body.length === 0 ? [] : entriesOf(jsonObject(call));
    case "application/x-www-form-urlencoded":
      return formOf(call);
    case "multipart/form-data":
      return formParts(call)?.map(
        ({ name, fileName, content }) =>
          [name, fileName === undefined ? content.toString("utf8") : content] as const,
      );
    default:
      return [];
  }
}

function entriesOf(object: object | undefined): Iterable<readonly [string, unknown]> | undefined {
  return object && Object.entries(object);
}

function readParts(body: Buffer, from: number, between: Buffer): FormPart[] | undefined {
  const parts: FormPart[] = [];
  for (let start = from; ;) {
    const end = body.indexOf(between, start);
    const part = end === -1 ? undefined : partOf(body.subarray(start, end));
    if (part === undefined) return undefined;
    parts.push(part);
    start = end + between.length + 2;
    const after = body.toString("latin1", start - 2, start);
    if (after !== "\r\n") return after === "--" ? parts : undefined;
  }
}

export function formParts(call: Call): FormPart[] | undefined {
  const boundary = /boundary="?([^";\s]{1,70})/i.exec(call.headers["content-type"] ?? "")?.[1];
  if (contentType(call) !== "multipart/form-data" || boundary === undefined) return undefined;
  const opening = Buffer.from(`--${boundary}\r\n`);
  const isForm = call.body.subarray(0, opening.length).equals(opening);
  const between = Buffer.from(`\r\n--${boundary}`);
  return isForm ? readParts(call.body, opening.length, between) : undefined;
}
