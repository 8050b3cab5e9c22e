import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { createTestPeer } from "@postrider/shared/testing/router";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { createStorageTurns } from "#src/operations/storage-limit.ts";
import { importMedia } from "#src/rpc/import-media.ts";

/** Creates a client of an in-memory media service that implements only ImportMedia. */
export function createImportClient(
  given: Pick<RpcDependencies, "sql" | "store" | "imports"> &
    Partial<Pick<RpcDependencies, "storageBytes">>,
) {
  const deps = {
    storageBytes: 1_000_000,
    storageTurns: createStorageTurns(),
    ...given,
    assertRoom: () => Promise.resolve(),
    nudgeRelay: () => undefined,
  };
  const peer = createTestPeer((router) => {
    router.service(MediaService, { importMedia: (request) => importMedia(deps, request) });
  });
  return peer.client(MediaService);
}
