import { CAMERA_REACH, FRAMES_PER_SECOND, MIDDLE_Y, SECONDS } from "./geometry.ts";
import { ballAt, move, referee, type Scene, team } from "./players.ts";
import { type Story } from "./story.ts";

/** The scenes of the video, one for each frame. The same object each time, changed. */
export function* scenes(story: Story): Generator<Scene> {
  const scene: Scene = {
    time: 0,
    ball: { x: 0, y: MIDDLE_Y, z: 0 },
    players: [...team("home", 0), ...team("away", 0), referee()],
    score: { home: 0, away: 0 },
    lastGoal: null,
    sinceGoal: Infinity,
    camera: 0,
  };
  for (let frame = 0; frame < SECONDS * FRAMES_PER_SECOND; frame++) {
    const before = scene.time;
    scene.time = frame / FRAMES_PER_SECOND;
    scene.ball = ballAt(story, scene.time);
    for (const goal of story.goals) if (before < goal.time && goal.time <= scene.time) scene.score[goal.side] += 1;
    const last = story.goals.findLast(({ time }) => time <= scene.time);
    scene.lastGoal = last?.side ?? null;
    scene.sinceGoal = scene.time - (last?.time ?? -Infinity);
    if (story.wipes.some((wipe) => before < wipe && wipe <= scene.time)) kickOffAgain(scene);
    move(scene, story);
    const wanted = Math.max(-CAMERA_REACH, Math.min(CAMERA_REACH, scene.ball.x * 0.78));
    scene.camera += (wanted - scene.camera) * 0.045;
    yield scene;
  }
}

function kickOffAgain(scene: Scene): void {
  scene.players = [...team("home", scene.time), ...team("away", scene.time), referee()];
  scene.camera = 0;
}
