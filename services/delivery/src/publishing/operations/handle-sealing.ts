import { randomBytes } from "node:crypto";
import type { Handles } from "@postrider/platforms/publishing/handles";
import { seal, unseal, type SealedPlace, type SealingKey } from "@postrider/shared/secrets/sealing";
import type { StoredHandles, TaskKey } from "#src/publishing/domain/task.ts";

const NONCE_BYTES = 12;

/**
 * Encrypts handles before they are stored. Handles are values that the platform returned and that must stay secret:
 * anyone who has the URL of an upload can send bytes to it.
 */
export interface HandleSealing {
  seal(task: TaskKey, handles: Handles): StoredHandles;
  /** @throws SealError An encryption key is missing, or a handle was changed or belongs to another task. */
  open(task: TaskKey, stored: StoredHandles | null): Handles;
}

function placeOf({ targetId, generation }: TaskKey, name: string): SealedPlace {
  return { table: "task_handles", rowId: `${targetId}/${generation}`, column: name };
}

/** Creates the encryption of handles. The first and newest key encrypts; every key can decrypt. */
export function createHandleSealing(keys: readonly SealingKey[]): HandleSealing {
  const sealOne = (task: TaskKey, name: string, text: string) => ({
    sealed: seal(keys, placeOf(task, name), text, randomBytes(NONCE_BYTES)),
  });
  return {
    seal: (task, handles) => {
      const entries = Object.entries(handles);
      return Object.fromEntries(entries.map(([name, text]) => [name, sealOne(task, name, text)]));
    },
    open: (task, stored) =>
      Object.fromEntries(
        Object.entries(stored ?? {}).map(([name, handle]) => [
          name,
          typeof handle === "string" ? handle : unseal(keys, placeOf(task, name), handle.sealed),
        ]),
      ),
  };
}
