import type { Publication } from "#src/publishing/publication.ts";

/** A text for an account that no platform knows. */
export const PUBLICATION: Publication = {
  targetId: "01936a5e-0000-7000-8000-000000000000",
  text: "hello",
  title: undefined,
  privacy: undefined,
  tags: [],
  settings: {},
  externalId: "me",
  username: "me",
  accessToken: "token",
  attributes: {},
  media: [],
};
