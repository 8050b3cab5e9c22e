import { getText, getTexts, type Arguments, type Command, type Result } from "#src/command.ts";

const OBJECT_ACTIONS = [
  "s3:AbortMultipartUpload",
  "s3:DeleteObject",
  "s3:GetObject",
  "s3:PutObject",
];
/** Without `s3:ListBucket` a store answers 403 instead of 404 about an object that is missing. */
const BUCKET_ACTIONS = ["s3:ListBucket", "s3:ListBucketMultipartUploads"];

function toPolicy(bucket: string) {
  const arn = `arn:aws:s3:::${bucket}`;
  return {
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Action: OBJECT_ACTIONS, Resource: `${arn}/*` },
      { Effect: "Allow", Action: BUCKET_ACTIONS, Resource: arn },
    ],
  };
}

/** Browsers send files to the bucket directly, with the signed type; they read from Postrider. */
function toCors(origins: readonly string[]) {
  const rule = { AllowedMethods: ["PUT"], AllowedHeaders: ["content-type"], MaxAgeSeconds: 3600 };
  return { CORSRules: [{ AllowedOrigins: origins, ...rule }] };
}

function printRules(args: Arguments): Promise<Result> {
  const json = {
    policy: toPolicy(getText(args, "bucket")),
    cors: toCors(getTexts(args, "origin")),
  };
  return Promise.resolve({ json, text: JSON.stringify(json, undefined, 2) });
}

export const bucketCommands: readonly Command[] = [
  {
    words: "storage bucket-rules",
    synopsis: "--bucket NAME --origin URL …",
    summary:
      "print the policy for the S3 user of the media service, and the CORS rules that let pages of these origins upload to the bucket; calls no service",
    run: (_services, args) => printRules(args),
  },
];
