import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import type { OperationExamples } from "./example.ts";
import { EXAMPLE_IDS } from "./ids.ts";

const { "media.ready": media } = EXAMPLE_DATA;
const UPLOAD_PATH = "01a19c11-2d4e-7f60-9182-a3b4c5d6e7f9";

/** The examples in the API description for operations on media. */
export const MEDIA_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  presignUpload: {
    requests: {
      image: {
        summary: "Upload an image",
        value: { fileName: "shop.jpg", contentType: "image/jpeg", bytes: media.bytes },
      },
    },
    answers: {
      201: {
        id: EXAMPLE_IDS.media,
        uploadUrl: `https://postrider.example/uploads/${UPLOAD_PATH}?token=EXAMPLE`,
        uploadPath: UPLOAD_PATH,
        uploadToken: "EXAMPLE",
        expiresAt: "2026-11-20T15:11:52.003Z",
      },
    },
  },
  completeUpload: { answers: { 200: media } },
  importMedia: {
    requests: {
      image: { summary: "Import an image", value: { url: "https://example.com/shop.jpg" } },
    },
    answers: { 201: media },
  },
  updateMedia: {
    requests: {
      describe: {
        summary: "Describe a picture for people who do not see it",
        value: { altText: "A sailing boat at sunrise" },
      },
    },
    answers: { 200: media },
  },
  deleteMedia: { answers: { 202: { id: EXAMPLE_IDS.media, status: "deleting" } } },
};
