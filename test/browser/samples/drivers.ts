// Programs that each run many samples in one process, which is cheaper than one process per sample. They announce each sample to the
// recorder, and collect its failures, except rejected requests.

/** Reads `samples.json`: `[{ id, file, token }]`. */
export const NODE_DRIVER = `
import { readFileSync } from "node:fs";
const [list, recorder] = process.argv.slice(2);
const failures = {};
console.log = () => undefined;
for (const { id, file, token } of JSON.parse(readFileSync(list, "utf8"))) {
  await fetch(recorder + "/__sample/" + id);
  process.env.TIFO_TOKEN = token;
  try {
    await import(file);
  } catch (error) {
    failures[id] = String(error?.stack ?? error);
  }
}
process.stdout.write(JSON.stringify(failures));
`;

export const PYTHON_DRIVER = `
import contextlib, io, json, os, sys, traceback, urllib.error, urllib.request
samples, recorder = sys.argv[1:]
failures = {}
for sample in json.load(open(samples)):
    urllib.request.urlopen(recorder + "/__sample/" + sample["id"]).read()
    os.environ["TIFO_TOKEN"] = sample["token"]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(open(sample["file"]).read(), sample["id"], "exec"), {"__name__": "__main__"})
    except urllib.error.HTTPError:
        pass
    except BaseException:
        failures[sample["id"]] = traceback.format_exc()
json.dump(failures, sys.stdout)
`;

export const SHELL_DRIVER = `
list=$1; recorder=$2; failures=""
while IFS=$'\\t' read -r id file token; do
  curl -s "$recorder/__sample/$id"
  TIFO_TOKEN=$token bash -e "$file" > "$file.log" 2>&1 || failures="$failures\${failures:+,}\\"$id\\":\\"exit code $?\\""
done < "$list"
printf '{%s}' "$failures"
`;
