import { choice } from "./field.ts";

export const imageFit = choice(
  ["refuse", "pad", "crop"],
  "refuse",
  "What happens to a picture whose proportions the platform does not accept: `refuse` = the post is refused, `pad` = it gets white borders, `crop` = its edges are cut off.",
);
