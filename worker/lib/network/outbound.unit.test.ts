import { describe, expect, test } from "vitest";
import { outboundProblem } from "./outbound.ts";

const deployed = { TIFO_DEVELOPMENT: "false" };
const local = { TIFO_DEVELOPMENT: "true" };

describe("outboundProblem", () => {
  test.each(["https://keys.example.com/jwks", "https://keys.example.com:8443/", "https://xn--bcher-kva.example/"])("accepts %s", (url) => {
    expect(outboundProblem(deployed, url)).toBeUndefined();
  });

  test.each([
    "http://keys.example.com/",
    "ftp://keys.example.com/",
    "https://user:secret@keys.example.com/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://printer.local/",
    "https://metadata.google.internal/",
    "https://router.home.arpa/",
    "https://nas.lan/",
    "https://host.localdomain/",
    "https://wiki.corp/",
    "https://tv.home/",
    "https://intranet/",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://10.0.0.8/",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[fd00::1]/",
    "not a url",
  ])("rejects %s", (url) => {
    expect(outboundProblem(deployed, url)).toBeDefined();
  });

  test("accepts loopback over http only in development", () => {
    for (const url of ["http://localhost:9000/keys", "http://127.0.0.1:9000/", "http://[::1]:9000/"]) {
      expect(outboundProblem(local, url)).toBeUndefined();
      expect(outboundProblem(deployed, url)).toBeDefined();
    }
    expect(outboundProblem(local, "http://10.0.0.8/")).toBeDefined();
  });
});
