import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** An operation as the API description lists it. */
export interface ListedOperation {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** The scope that its API key needs; undefined for the upload with a grant. */
  readonly scope: string | undefined;
}

interface Described {
  readonly operationId?: string;
  readonly "x-postrider-scope"?: string;
}

/**
 * Returns all operations of the committed API description, which another test compares with the
 * server.
 */
export function listOperations(): readonly ListedOperation[] {
  const file = fileURLToPath(new URL("../openapi.json", import.meta.url));
  const { paths } = JSON.parse(readFileSync(file, "utf8")) as {
    paths: Record<string, Record<string, Described>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const { operationId: id, "x-postrider-scope": scope } = described;
      if (id === undefined) return [];
      return [{ id, method: method.toUpperCase() as ListedOperation["method"], path, scope }];
    }),
  );
}
