/** The small picture of an image; no picture for a video. */
export function previewPath(mediaId: string): string {
  return `/app/api/media/${mediaId}/preview`;
}
