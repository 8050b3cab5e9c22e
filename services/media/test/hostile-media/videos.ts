import { sampleMp4 } from "@postrider/local/demo/sample-media";
import { ascii, box, u32 } from "@postrider/local/demo/sample-mp4";
import { element, endless, float, ID, sampleWebm, tags, text, unsigned } from "../sample-webm.ts";
import { hostile, type HostileFile } from "./hostile-file.ts";

/** Creates video files with loops, deep nesting, truncations and false sizes. */
export function hostileVideos(): HostileFile[] {
  return [...hostileMp4s(), ...hostileWebms()];
}

/**
 * Returns a valid MP4 in which the 32-bit numbers `values` are written `shift` bytes after the
 * start of the first box of the given type.
 */
function changed(type: string, shift: number, ...values: readonly number[]): Buffer {
  const video = Buffer.from(sampleMp4());
  u32(...values).copy(video, video.indexOf(ascii(type)) + shift);
  return video;
}

function without(type: string): Buffer {
  const video = Buffer.from(sampleMp4());
  video.write("free", video.indexOf(ascii(type)), "latin1");
  return video;
}

function nested(depth: number, type: string): Buffer {
  let inner: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level += 1) inner = box(type, inner);
  return inner;
}

/** Returns a track of metadata whose chunks all are the same `bytes` bytes of the file. */
function metadataTrack(chunks: number, bytes: number): Buffer {
  const table = box(
    "stbl",
    box("stsd", u32(0, 0)),
    box("stts", u32(0, 0)),
    box("stsc", u32(0, 1, 1, 1, 1)),
    box("stsz", u32(0, bytes, chunks)),
    box("stco", u32(0, chunks), Buffer.alloc(4 * chunks, u32(40))),
  );
  const media = box(
    "mdia",
    box("mdhd", u32(0, 0, 0, 600, 600, 0)),
    box("hdlr", u32(0, 0), ascii("meta"), Buffer.alloc(13)),
    box("minf", table),
  );
  return box("trak", box("tkhd", Buffer.alloc(84)), media);
}

function hostileMp4s(): HostileFile[] {
  const good = Buffer.from(sampleMp4());
  const type = box("ftyp", ascii("isom"), u32(512), ascii("isom"));
  const cut = [10, 24, 30, 60, 130, 200, 300, 500, 700, 720, good.length - 1];
  const empties = Buffer.alloc(8 * 2_000_000, box("free"));
  return [
    ...hostile("video/mp4", "rejected", {
      ...Object.fromEntries(
        cut.map((at) => [`an MP4 truncated at byte ${at}`, good.subarray(0, at)]),
      ),
      "an MP4 whose moov says 4 GB": changed("moov", -4, 0xffffffff),
      "an MP4 whose moov is shorter than its header": changed("moov", -4, 4),
      "an MP4 whose moov is empty": changed("moov", -4, 8),
      "an MP4 whose track reaches beyond moov": changed("trak", -4, 0x7fffffff),
      "an MP4 with a long size of 0": Buffer.concat([type, u32(1), ascii("moov"), u32(0, 0), good]),
      "an MP4 with a negative long size": Buffer.concat([
        type,
        u32(1),
        ascii("moov"),
        u32(0xffffffff, 0xffffffff),
        good,
      ]),
      "an MP4 with a box of size 0 in moov": changed("mvhd", -4, 0),
      "an MP4 without moov": without("moov"),
      "an MP4 without a track": without("trak"),
      "an MP4 without sample tables": without("stbl"),
      "an MP4 without sample sizes": without("stsz"),
      "an MP4 without media data": without("mdat"),
      "an MP4 with a sound track only": changed("vide", 0, 0x736f756e),
      "an MP4 with a timescale of 0": changed("mvhd", 16, 0),
      "an MP4 whose track has a timescale of 0": changed("mdhd", 16, 0),
      "an MP4 of 49 days": changed("mvhd", 20, 0xfffffffe),
      "an MP4 of 136 years": changed("mvhd", 16, 1, 0xfffffffe),
      "an MP4 of 4 billion sample sizes": changed("stsz", 12, 0xffffffff),
      "an MP4 of 4 billion sample times": changed("stts", 8, 0xffffffff),
      "an MP4 of 4 billion chunks": changed("stco", 8, 0xffffffff),
      "an MP4 of 4 billion sample descriptions": changed("stsd", 8, 0xffffffff),
      "an MP4 without images": changed("stsz", 12, 0),
      "an MP4 whose images lie beyond its end": changed("stco", 12, 0x7fffffff),
      "an MP4 of no size": changed("avc1", 28, 0),
      "an MP4 with two moov boxes": Buffer.concat([good, good.subarray(type.length)]),
      "an MP4 of 2 million empty boxes": Buffer.concat([type, empties, good.subarray(type.length)]),
      "an MP4 with 2 million empty boxes in moov": Buffer.from(sampleMp4({ inMovie: [empties] })),
      "an MP4 of its type only": type,
    }),
    ...hostile("video/mp4", "either", {
      "an MP4 of 20 MB that names its bytes 20,000 times as samples of metadata": sampleMp4({
        inMovie: [metadataTrack(20_000, 20_000_000)],
        behind: [box("free", Buffer.alloc(20_000_000))],
      }),
      "an MP4 with a box of 8 zeros": Buffer.concat([good, Buffer.alloc(8)]),
      "an MP4 of 10,000 nested udta boxes": Buffer.from(
        sampleMp4({ inMovie: [nested(10_000, "udta")] }),
      ),
      "an MP4 of 10,000 nested meta boxes": Buffer.from(
        sampleMp4({ inMovie: [box("udta", nested(10_000, "meta"))] }),
      ),
      "an MP4 with a udta box that lies": Buffer.from(
        sampleMp4({ inMovie: [box("udta", u32(0xfffffff0), ascii("\u00a9xyz"))] }),
      ),
      "an MP4 with XMP of 10 MB": Buffer.from(
        sampleMp4({
          behind: [
            box(
              "uuid",
              Buffer.from("be7acfcb97a942e89c71999491e3afac", "hex"),
              Buffer.alloc(10_000_000, "<x>"),
            ),
          ],
        }),
      ),
    }),
  ];
}

function hostileWebms(): HostileFile[] {
  const good = sampleWebm();
  const cut = [5, 20, 30, 45, 60, 100, 150, good.length - 1];
  const voids = Buffer.alloc(2 * 9_000_000, Buffer.from([0xec, 0x80]));
  const loop = Buffer.concat([good.subarray(0, 30), good]);
  const scale = (value: number) => unsigned(ID.timestampScale, value);
  return [
    ...hostile("video/webm", "rejected", {
      ...Object.fromEntries(
        cut.map((at) => [`a WebM truncated at byte ${at}`, good.subarray(0, at)]),
      ),
      "a WebM in a WebM": loop,
      "a WebM of 9 million empty elements": sampleWebm({ inSegment: [voids] }),
      "a live WebM of 9 million empty elements": sampleWebm({ inSegment: [voids], live: true }),
      "a WebM with endless tracks": sampleWebm({
        inSegment: [endless(ID.tracks, Buffer.alloc(10))],
      }),
      "a WebM with an endless header": Buffer.concat([
        endless(ID.header, text(ID.docType, "webm")),
        good,
      ]),
      "a WebM whose segment is a void": Buffer.concat([
        element(ID.header, text(ID.docType, "webm")),
        element(ID.void, good),
      ]),
      "a WebM with a timescale of 0": sampleWebm({ info: [scale(0), float(ID.duration, 1)] }),
      "a WebM that lasts for ever": sampleWebm({
        info: [scale(1_000_000), float(ID.duration, Infinity)],
      }),
      "a WebM that lasts no number": sampleWebm({
        info: [scale(1_000_000), float(ID.duration, Number.NaN)],
      }),
      "a WebM that lasts a negative time": sampleWebm({
        info: [scale(1_000_000), float(ID.duration, -5)],
      }),
      "a WebM of no size": sampleWebm({ video: [] }),
      "a WebM of 4 billion pixels": sampleWebm({
        video: [unsigned(ID.width, 0xffffffff), unsigned(ID.height, 0xffffffff)],
      }),
      "a WebM with a number of 9 bytes": sampleWebm({
        info: [element(ID.timestampScale, Buffer.alloc(9, 1))],
      }),
      "a WebM with a size of 2^56": Buffer.concat([
        good,
        Buffer.from("1f43b67501fffffffffffffe", "hex"),
      ]),
      "a WebM of zeros": Buffer.concat([good.subarray(0, 40), Buffer.alloc(10_000_000)]),
    }),
    ...hostile("video/webm", "accepted", {
      "a WebM with tags that say where": sampleWebm({
        inSegment: [tags("LOCATION", "+52.5200+013.4050/")],
      }),
    }),
  ];
}
