import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** A value of a request that must be assignable to a type of the platform's own client library. */
export interface TypeCase {
  /**
   * A TypeScript type, written with the imports and types that the check of the platform declares.
   */
  readonly type: string;
  readonly value: unknown;
  /** Describes the request in the message about a value that does not have the type. */
  readonly request: string;
}

/**
 * TypeScript types for the checks of all platforms. `FromText` is the type of the fields of a form
 * or a query, in which numbers and booleans are text. `Known` drops the index signature that would
 * accept every name.
 */
const DECLARATIONS = [
  "type Text<T> = [NonNullable<T>] extends [boolean] ? 'true' | 'false' : [NonNullable<T>] extends [number] ? `${number}` : T;",
  "type FromText<T> = { [K in keyof T]: Text<T[K]> };",
  "type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] };",
];

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const TSC = fileURLToPath(new URL("../../../../node_modules/.bin/tsc", import.meta.url));

function compile(folder: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(TSC, ["-p", folder, "--pretty", "false"], (error, stdout, stderr) => {
      if (error !== null && stdout === "")
        reject(new Error(`tsc failed: ${stderr}`, { cause: error }));
      else resolve(stdout);
    });
  });
}

let nextFolder = 0;

/**
 * Compiles a file in which each value of a request is a literal of the type that the platform's own
 * client library declares: the compiler finds unknown names, wrong types and missing properties.
 * Returns a message for each value that does not have its type.
 *
 * @param declarations Lines of TypeScript that import and declare the types of the cases.
 */
export async function judgeTypes(
  declarations: readonly string[],
  cases: readonly TypeCase[],
): Promise<string[]> {
  const lines = new Map(
    cases.map((one) => [`const _: ${one.type} = ${JSON.stringify(one.value)};`, one.request]),
  );
  if (lines.size === 0) return [];
  const head = [...declarations, ...DECLARATIONS];
  const bodies = [...lines.keys()].map((line) => `{ ${line} }`);
  // The folder of the compiled file lies in this package, so that the compiler finds the client
  // libraries of the package.
  nextFolder += 1;
  const folder = `${PACKAGE}node_modules/.judges/${process.pid}-${nextFolder}`;
  const options = { extends: `${PACKAGE}tsconfig.json`, include: ["*.ts"] };
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(`${folder}/requests.ts`, [...head, ...bodies].join("\n"));
    await writeFile(`${folder}/tsconfig.json`, JSON.stringify(options));
    return toMessages(await compile(folder), head.length, [...lines.values()]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Replaces the position in each message of the compiler by the request whose value stands there.
 */
function toMessages(output: string, headLines: number, requests: readonly string[]): string[] {
  return output.split(/\n(?=\S)/).flatMap((message) => {
    const line = /requests\.ts\((\d+),/.exec(message)?.[1];
    if (line === undefined) return message.trim() === "" ? [] : [message];
    const request = requests[Number(line) - headLines - 1] ?? "the declarations of the judge";
    return [`${request}: ${message.replace(/^.*?: error /, "").trim()}`];
  });
}
