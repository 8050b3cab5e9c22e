import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

/** Id of a playlist that a simulated YouTube channel has in addition to its uploads. */
const OWN_PLAYLIST = /^PL(?<channel>.{22})/;

/**
 * The YouTube channel to which a playlist belongs; undefined for a playlist that does not exist. A
 * channel `UC…` has every playlist whose id begins with `PL…`.
 */
export function ownerOfPlaylist(playlistId: string): string | undefined {
  const channel = OWN_PLAYLIST.exec(playlistId)?.groups?.["channel"];
  return channel === undefined ? undefined : `UC${channel}`;
}

/**
 * The videos in the playlists of simulated YouTube channels. As on the real YouTube, a playlist contains a video once for
 * each time that it was added.
 */
export class Playlists {
  readonly #rows: Table<readonly string[]>;

  constructor(store: Store) {
    this.#rows = store.table<readonly string[]>("youtube.playlists");
  }

  /** Ids of the videos in a YouTube playlist, in order. */
  videosOf(playlistId: string): readonly string[] {
    return this.#rows.get(playlistId) ?? [];
  }

  add(playlistId: string, videoId: string): void {
    this.#rows.put(playlistId, [...this.videosOf(playlistId), videoId]);
  }
}
