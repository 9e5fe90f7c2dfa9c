/**
 * The map on its canvases. Sigma draws all discs and, from afar, all links with WebGL; what needs pictures, words
 * or emphasis is drawn over it in two dimensions, and only for what is in view. So a frame costs what WebGL takes and
 * one look at where each state is. What looks at all states and links anew is done for a new scene only.
 */

import { MultiDirectedGraph } from "graphology";
import Sigma from "sigma";
import { EdgeArrowProgram, EdgeLineProgram, NodePointProgram } from "sigma/rendering";
import type { RenderParams } from "sigma/types";
import { onThemeChange } from "../theme";
import { spotAt, type Projection, type Spot } from "./geometry";
import { changes } from "./look";
import { isDimming, isFocused, Overlay, type Focus, type Look } from "./overlay";
import { extent, farLinks, freeRoom, type Scene } from "./scene";
import { radius, thickness } from "./scales";
import { Thumbnails } from "./thumbnails";

/** What the camera looks at, in units of the layout, so that it means the same when the map grows. */
export interface View {
  x: number;
  y: number;
  z: number;
}

export interface MapEvents {
  onHover: (place: number | null, x: number, y: number) => void;
  onSelect: (place: number | null) => void;
  onOpen: (place: number) => void;
  /** The camera came to rest elsewhere; null: the whole map is shown. */
  onView: (view: View | null) => void;
  onDrawn: () => void;
}

/** More links than this are not drawn while the map moves. */
const mostMovingLinks = 6000;

type CameraState = ReturnType<ReturnType<Sigma["getCamera"]>["getState"]>;

interface Layers {
  near: CanvasRenderingContext2D;
  focus: CanvasRenderingContext2D;
}

/** Sigma's discs without the second drawing that tells what is under the pointer: `spotAt` does. */
class Discs extends NodePointProgram {
  constructor(gl: WebGLRenderingContext, _picking: WebGLFramebuffer | null, renderer: Sigma) {
    super(gl, null, renderer);
  }
}

/**
 * Sigma's lines, but not while the map moves: tens of thousands are too many for a frame without a graphics card.
 * Sigma's own `hideEdgesOnMove` looks at each state and link anew whenever the mouse lets go, and not at fingers.
 */
function restingLines(isMoving: () => boolean) {
  return class extends EdgeLineProgram {
    override render(params: RenderParams): void {
      if (!isMoving()) super.render(params);
    }
  };
}

/** Two sheets below the one that takes the mouse; plain memory where there is no graphics card to draw on them. */
function makeLayers(sigma: Sigma): Layers | null {
  const made = ["near", "focus"].map((id) => {
    const canvas = sigma.createCanvas(id, { beforeLayer: "mouse" });
    return canvas.getContext("2d", { willReadFrequently: drawnBySoftware() });
  });
  const [near, focus] = made;
  if (!near || !focus) return null;
  sigma.on("resize", () => {
    const { width, height } = sigma.getDimensions();
    for (const context of [near, focus]) {
      context.canvas.width = width * devicePixelRatio;
      context.canvas.height = height * devicePixelRatio;
      context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    }
  });
  return { near, focus };
}

function drawnBySoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const named = gl?.getExtension("WEBGL_debug_renderer_info");
  const renderer: unknown = gl && named ? gl.getParameter(named.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(String(renderer));
}

export class MapCanvas {
  private sigma: Sigma | null = null;
  private layers: Layers | null = null;
  private scene: Scene | null = null;
  private look: Look | null = null;
  private focus: Focus = { hovered: null, selected: null, path: [] };
  private far: number[] = [];
  private room: Float64Array = new Float64Array(0);
  private radii: Float32Array = new Float32Array(0);
  private spots: Spot[] = [];
  private fitted = true;
  private moving = false;
  private box = { x: 0, y: 0, span: 1 };
  private redraw = 0;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private aim: CameraState | null = null;
  private readonly thumbnails = new Thumbnails(() => this.schedule());
  private readonly overlay: Overlay;
  private readonly stopTheme: () => void;
  private readonly observer: ResizeObserver;

  constructor(
    private readonly container: HTMLElement,
    address: (place: number) => string,
    private readonly events: MapEvents,
  ) {
    this.overlay = new Overlay((place) => this.thumbnails.get(address(place)));
    this.stopTheme = onThemeChange(() => this.schedule());
    this.observer = new ResizeObserver(() => {
      this.onLeave();
      this.sigma?.scheduleRender();
    });
    this.observer.observe(container);
    container.addEventListener("pointermove", this.onPointer);
    container.addEventListener("pointerleave", this.onLeave);
  }

  /** Show another scene; the camera stays where it is unless it shows the whole. */
  setScene(scene: Scene, look: Look): void {
    const before = this.heldPoint();
    this.scene = scene;
    this.look = look;
    this.room = freeRoom(scene);
    this.radii = this.fittingRadii(scene);
    const graph = this.makeGraph(scene);
    this.sigma ??= this.makeSigma(graph.size > mostMovingLinks);
    if (this.fitted) this.frame();
    this.sigma.setGraph(graph);
    this.keepPoint(before);
  }

  /** Other colours or another choice of what is shown. */
  setLook(look: Look): void {
    const { scene, look: before } = this;
    if (look === before) return; // it came with the scene
    this.look = look;
    if (!scene || !before) return;
    const { places, links } = changes(scene, this.far, before, look);
    const partialGraph = { nodes: places.map(String), edges: links.map(String) };
    this.stir(); // it may be the first of many, as while a slider is dragged
    this.sigma?.refresh({ partialGraph, skipIndexation: true, schedule: true });
  }

  setFocus(focus: Focus): void {
    this.focus = focus;
    this.container.classList.toggle("dimmed", isDimming(focus));
    this.schedule();
  }

  view(): View | null {
    const camera = this.sigma?.getCamera().getState();
    if (!camera || this.fitted) return null;
    const { x, y, span } = this.box;
    return { x: x + (camera.x - 0.5) * span, y: y + (camera.y - 0.5) * span, z: camera.ratio * span };
  }

  /** Look at something; null: at the whole map. */
  setView(view: View | null, animate = false): void {
    if (!this.sigma) return;
    this.fitted = view === null;
    this.aim = null;
    const { x, y, span } = this.box;
    const state = view
      ? { x: 0.5 + (view.x - x) / span, y: 0.5 + (view.y - y) / span, ratio: view.z / span, angle: 0 }
      : { x: 0.5, y: 0.5, ratio: 1, angle: 0 };
    if (animate && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.travel(state, 250);
    else {
      this.sigma.getCamera().setState(state);
      this.setMoving(false); // it is there
    }
  }

  /** The whole of what is shown, filters considered. */
  fit(): void {
    if (!this.sigma) return;
    if (this.frame()) this.sigma.refresh();
    this.fitted = true;
    this.setView(null, true);
    this.events.onView(null);
  }

  zoom(factor: number): void {
    const camera = this.sigma?.getCamera();
    if (!camera) return;
    const { ratio } = this.aim ?? camera.getState();
    this.travel({ ratio: camera.getBoundedRatio(ratio / factor) }, 150);
  }

  /** Move the camera by shares of what is in view. */
  pan(right: number, down: number): void {
    const camera = this.sigma?.getCamera();
    if (!camera) return;
    const { x, y, ratio } = this.aim ?? camera.getState();
    this.travel({ x: x + right * ratio, y: y - down * ratio }, 120);
  }

  /** Move the camera on from where it is going: of keys that follow each other quickly none is lost. */
  private travel(change: Partial<CameraState>, duration: number): void {
    const camera = this.sigma?.getCamera();
    if (!camera) return;
    const aim = { ...(this.aim ?? camera.getState()), ...change };
    this.aim = aim;
    void camera.animate(aim, { duration }).then(() => {
      if (this.aim === aim) this.aim = null;
    });
  }

  /** Bring a state into view, closer if it is far away. */
  reveal(place: number): void {
    const { scene } = this;
    if (!scene || !this.sigma) return;
    const close = (this.room[place] ?? 1) * 12;
    const current = this.view()?.z ?? this.box.span;
    this.setView({ x: scene.x[place] ?? 0, y: scene.y[place] ?? 0, z: Math.min(current, close) }, true);
  }

  destroy(): void {
    cancelAnimationFrame(this.redraw);
    clearTimeout(this.settle);
    this.observer.disconnect();
    this.stopTheme();
    this.container.removeEventListener("pointermove", this.onPointer);
    this.container.removeEventListener("pointerleave", this.onLeave);
    this.sigma?.kill();
    this.sigma = null;
    this.container.classList.remove("moving", "crowded", "focused", "dimmed");
  }

  private makeGraph(scene: Scene): MultiDirectedGraph {
    const graph = new MultiDirectedGraph();
    const { links } = scene;
    for (let place = 0; place < scene.size; place += 1) {
      graph.addNode(place, { x: scene.x[place], y: scene.y[place], place });
    }
    this.far = farLinks(scene);
    for (const link of this.far) {
      const source = links.source[link];
      const target = links.target[link];
      graph.addDirectedEdgeWithKey(link, source, target, { link, source, target });
    }
    return graph;
  }

  /** Without states yet: each graph that Sigma is given it looks at whole, and the first needs its frame before. */
  private makeSigma(crowded: boolean): Sigma {
    this.container.classList.toggle("crowded", crowded);
    const sigma: Sigma = new Sigma(new MultiDirectedGraph(), this.container, {
      allowInvalidContainer: true, // a page that is only just laid out has no width yet; the observer tells of it
      renderLabels: false,
      zIndex: false,
      defaultEdgeType: crowded ? "line" : "arrow",
      defaultNodeType: "point",
      nodeProgramClasses: { point: Discs },
      edgeProgramClasses: { arrow: EdgeArrowProgram, line: restingLines(() => this.moving) },
      defaultDrawNodeHover: () => undefined,
      stagePadding: 48,
      minEdgeThickness: crowded ? 0.4 : 0.8,
      maxCameraRatio: 4,
      minCameraRatio: 0.0005,
      zoomingRatio: 1.5,
      zoomDuration: 120,
      doubleClickZoomingDuration: 0,
      nodeReducer: (_key, data) => {
        const place = data["place"] as number;
        const hidden = this.look?.shown[place] !== 1;
        return { x: data["x"] as number, y: data["y"] as number, size: this.radii[place] ?? 2, color: this.look?.colours[place] ?? "#888", hidden };
      },
      edgeReducer: (_key, data) => {
        const shown = this.look?.shown;
        const hidden = shown?.[data["source"] as number] !== 1 || shown[data["target"] as number] !== 1;
        const count = this.scene?.links.count[data["link"] as number] ?? 1;
        return { size: thickness(count, sigma.getGraph().size), color: this.look?.palette.far ?? "#888", hidden };
      },
    });
    this.layers = makeLayers(sigma);
    sigma.resize(true);
    // What is under the pointer is found by the spots in view. Sigma would read it back from WebGL at each move,
    // and that waits until all is drawn: seconds with a large map and no graphics card.
    Object.assign(sigma, { getNodeAtPosition: () => null });
    let drawn = false;
    sigma.on("afterRender", () => {
      this.draw();
      if (!drawn) {
        drawn = true;
        this.events.onDrawn();
      }
    });
    sigma.getCamera().on("updated", () => this.onCamera());
    const at = (event: { x: number; y: number }) => this.placeAt(event.x, event.y);
    const click = (event: { event: { x: number; y: number } }) => this.events.onSelect(at(event.event));
    sigma.on("clickStage", click);
    const open = (event: { event: { x: number; y: number }; preventSigmaDefault: () => void }) => {
      const place = at(event.event);
      if (place === null) return;
      event.preventSigmaDefault();
      this.events.onOpen(place);
    };
    sigma.on("doubleClickStage", open);
    return sigma;
  }

  /** Sigma's unit square is what is shown now; the camera speaks in it. Tells whether it was another before. */
  private frame(): boolean {
    const { scene, look, sigma } = this;
    if (!scene || !sigma) return false;
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let place = 0; place < scene.size; place += 1) {
      if (look?.shown[place] !== 1) continue;
      left = Math.min(left, scene.x[place] ?? 0);
      right = Math.max(right, scene.x[place] ?? 0);
      bottom = Math.min(bottom, scene.y[place] ?? 0);
      top = Math.max(top, scene.y[place] ?? 0);
    }
    if (left > right) return false;
    const least = 0.5;
    if (right - left < least && top - bottom < least) {
      [left, right] = [left - least, right + least];
      [bottom, top] = [bottom - least, top + least];
    }
    this.box = { x: (left + right) / 2, y: (bottom + top) / 2, span: Math.max(right - left, top - bottom) };
    const known = sigma.getCustomBBox();
    if (known && [left, right, bottom, top].join() === [...known.x, ...known.y].join()) return false;
    sigma.setCustomBBox({ x: [left, right], y: [bottom, top] });
    return true;
  }

  /** The selected state on the screen before the map changes, so that it can stay there. */
  private heldPoint(): { run: string; id: number; x: number; y: number } | null {
    const { scene, focus } = this;
    if (!scene || focus.selected === null || this.fitted) return null;
    const place = focus.selected;
    return {
      run: scene.runs[scene.run[place] ?? 0] ?? "", id: scene.id[place] ?? 0, x: scene.x[place] ?? 0, y: scene.y[place] ?? 0,
    };
  }

  private keepPoint(point: { run: string; id: number; x: number; y: number } | null): void {
    const { scene } = this;
    const view = this.view();
    if (!point || !scene || !view) return;
    for (let place = 0; place < scene.size; place += 1) {
      if (scene.id[place] === point.id && scene.runs[scene.run[place] ?? 0] === point.run) {
        this.setView({ ...view, x: view.x + (scene.x[place] ?? 0) - point.x, y: view.y + (scene.y[place] ?? 0) - point.y });
        return;
      }
    }
  }

  /** Radii by visits, but no disc covers its neighbour while the whole map is shown. */
  private fittingRadii(scene: Scene): Float32Array {
    const [, width] = extent(scene.x);
    const [, height] = extent(scene.y);
    const unit = Math.min(this.container.clientWidth / (width || 1), this.container.clientHeight / (height || 1));
    return Float32Array.from(scene.visits, (visits, place) => {
      const most = Math.max((this.room[place] ?? 0) * unit * 0.5, scene.size > 5000 ? 1.2 : 2.5);
      return Math.min(radius(visits, scene.size), most);
    });
  }

  private projection(): Projection {
    const sigma = this.sigma as Sigma;
    const zero = sigma.graphToViewport({ x: 0, y: 0 });
    const one = sigma.graphToViewport({ x: 1, y: 1 });
    const { width, height } = sigma.getDimensions();
    return { scaleX: one.x - zero.x, shiftX: zero.x, scaleY: one.y - zero.y, shiftY: zero.y, width, height };
  }

  private schedule(): void {
    cancelAnimationFrame(this.redraw);
    this.redraw = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    const { scene, look, sigma, layers } = this;
    if (!scene || !look || !sigma || !layers) return;
    const { spots, pictured } = this.overlay.draw(
      layers,
      { scene, look, room: this.room, radii: this.radii, projection: this.projection(), grow: sigma.scaleSize(1) },
      this.focus,
    );
    this.spots = spots;
    this.container.classList.toggle("near", pictured);
    this.container.classList.toggle("focused", isFocused(this.focus));
  }

  private placeAt(x: number, y: number): number | null {
    return spotAt(this.spots, x, y)?.place ?? null;
  }

  private onCamera(): void {
    if (!this.sigma) return; // an animation may outlive the map
    this.onLeave();
    const { x, y, ratio } = this.sigma.getCamera().getState();
    // Also on the way to the whole map something else is seen.
    this.fitted = Math.max(Math.abs(x - 0.5), Math.abs(y - 0.5), Math.abs(ratio - 1)) <= 1e-6;
    this.thumbnails.moveOn();
    this.stir();
  }

  /** Something moves; when nothing did for a while, and nobody holds the map, it is at rest again. */
  private stir(): void {
    this.setMoving(true);
    clearTimeout(this.settle);
    this.settle = setTimeout(() => {
      if (this.sigma?.getMouseCaptor().isMouseDown) {
        this.stir();
        return;
      }
      this.setMoving(false);
      this.events.onView(this.view());
    }, 250);
  }

  private setMoving(moving: boolean): void {
    if (moving === this.moving) return;
    this.moving = moving;
    this.container.classList.toggle("moving", moving);
    if (!moving) this.sigma?.scheduleRender();
  }

  private readonly onPointer = (event: PointerEvent) => {
    if (event.buttons !== 0) return;
    const box = this.container.getBoundingClientRect();
    const place = this.placeAt(event.clientX - box.left, event.clientY - box.top);
    this.container.classList.toggle("pointing", place !== null);
    if (place !== this.focus.hovered) this.events.onHover(place, event.clientX - box.left, event.clientY - box.top);
  };

  /** What the pointer was on is no longer under it. */
  private readonly onLeave = () => {
    if (this.focus.hovered !== null) this.events.onHover(null, 0, 0);
  };
}
