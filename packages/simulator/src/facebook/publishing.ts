import type { FacebookNetwork, FacebookPost, FacebookVideo } from "#src/facebook/network.ts";
import { refuseGraph } from "#src/graph/errors.ts";
import type { Account } from "#src/world/accounts.ts";
import { toPosted } from "#src/world/received-media.ts";

/** A post with photos is never a duplicate. */
export function refuseDuplicate(
  network: FacebookNetwork,
  account: Account,
  { message, link, photos }: Pick<FacebookPost, "message" | "link" | "photos">,
  now: number,
): void {
  const [newest] = network.world.posts
    .newestFirst(account)
    .filter(({ createdAt, deletedAt }) => createdAt <= now && deletedAt === null);
  const previous = newest === undefined ? undefined : network.posts.get(newest.id);
  const isSame = previous?.message === message && previous.link === link;
  if (isSame && photos.length === 0 && previous.photos.length === 0)
    refuseGraph({
      code: 506,
      message: "Duplicate status message",
      userMessage: "This status update is identical to the last one you posted.",
    });
}

/** A repeated call only increases the post's number of publishing calls. */
export function publishPost(
  network: FacebookNetwork,
  account: Account,
  post: FacebookPost,
  now: number,
): FacebookPost {
  const { posts } = network.world;
  const shown = posts.get(account, post.id);
  if (shown !== undefined) {
    posts.change(shown, { createCalls: shown.createCalls + 1 });
    return post;
  }
  refuseDuplicate(network, account, post, now);
  const media = post.photos.flatMap((id) => {
    const photo = network.photos.get(id);
    if (photo === undefined) return [];

    const { altText, received } = photo;
    return [{ ...toPosted(received), ...(altText === "" ? {} : { altText }) }];
  });
  posts.add({
    platform: "facebook",
    account: account.externalId,
    id: post.id,
    text: post.message,
    media,
    createdAt: now,
    deletedAt: null,
    createCalls: 1,
  });
  const published = { ...post, publishedAt: now };
  network.posts.put(post.id, published);
  return published;
}

/** An upright video that is not a reel becomes the draft of a reel, which readers never see. */
function becomesDraft({ uploads }: FacebookNetwork, { id, kind }: FacebookVideo): boolean {
  const { width = 0, height = 0 } = uploads.find(id)?.received ?? {};
  return kind === "video" && height > width;
}

/** A repeated call only increases the post's number of publishing calls. */
export function publishVideo(
  network: FacebookNetwork,
  account: Account,
  video: FacebookVideo,
  visibleFrom: number,
): void {
  const { posts } = network.world;
  const shown = posts.get(account, video.id);
  if (shown !== undefined) {
    posts.change(shown, { createCalls: shown.createCalls + 1 });
    return;
  }
  if (becomesDraft(network, video)) return;

  const received = network.uploads.find(video.id)?.received;
  posts.add({
    platform: "facebook",
    account: account.externalId,
    id: video.id,
    text: video.description,
    media: received === null || received === undefined ? [] : [toPosted(received)],
    createdAt: visibleFrom,
    deletedAt: null,
    createCalls: 1,
  });
  network.videos.put(video.id, { ...video, publishedAt: visibleFrom });
}
