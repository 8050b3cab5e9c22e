import type { ObjectStore } from "#src/storage/object-store.ts";

class StoreHeldError extends Error {
  override name = "StoreHeldError";

  constructor() {
    super(
      "the file is kept, because the data or the object store belongs to another deployment; see `postrider recovery status`",
    );
  }
}

/** No caller in this service can then delete files of another deployment. */
export function guardStore(store: ObjectStore, mayDelete: () => Promise<boolean>): ObjectStore {
  const requirePermission = async (): Promise<void> => {
    if (!(await mayDelete())) throw new StoreHeldError();
  };
  return {
    hasUploadUrls: store.hasUploadUrls,
    put: (key, bytes, signal) => store.put(key, bytes, signal),
    open: (key, range, signal) => store.open(key, range, signal),
    stat: (key) => store.stat(key),
    move: (from, to, version) => store.move(from, to, version),
    list: (prefix, before) => store.list(prefix, before),
    createUploadUrl: (key, upload) => store.createUploadUrl(key, upload),
    check: () => store.check(),
    delete: async (key) => {
      await requirePermission();
      await store.delete(key);
    },
    removeUnfinished: async (before) => {
      await requirePermission();
      return await store.removeUnfinished(before);
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
