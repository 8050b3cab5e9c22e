import type { Publication } from "@postrider/platforms/publishing/publication";
import type { TestTarget, World } from "./fixture.ts";

/**
 * Adds a target of the account, with the content and the access token that a worker would receive
 * for it.
 */
export function addTargetOf(
  world: World,
  { text, title, privacy, settings, externalId, username, accessToken }: Publication,
  given: Pick<TestTarget, "platform" | "media">,
): TestTarget {
  const target = world.addTarget({
    ...given,
    text,
    settings,
    ...(title === undefined ? {} : { title }),
    ...(privacy === undefined ? {} : { privacy }),
  });
  Object.assign(world.account(target), { externalId, username, token: accessToken });
  return target;
}
