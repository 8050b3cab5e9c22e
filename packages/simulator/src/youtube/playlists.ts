import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

const OWN_PLAYLIST = /^PL(?<channel>.{22})/;

/** A channel `UC…` has every playlist whose id begins with `PL…`. */
export function ownerOfPlaylist(playlistId: string): string | undefined {
  const channel = OWN_PLAYLIST.exec(playlistId)?.groups?.["channel"];
  return channel === undefined ? undefined : `UC${channel}`;
}

/** As on the real YouTube, a playlist contains a video once for each time that it was added. */
export class Playlists {
  readonly #rows: Table<readonly string[]>;

  constructor(store: Store) {
    this.#rows = store.table<readonly string[]>("youtube.playlists");
  }

  videosOf(playlistId: string): readonly string[] {
    return this.#rows.get(playlistId) ?? [];
  }

  add(playlistId: string, videoId: string): void {
    this.#rows.put(playlistId, [...this.videosOf(playlistId), videoId]);
  }
}
