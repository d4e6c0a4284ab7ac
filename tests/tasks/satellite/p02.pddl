(define (problem satellite-02)
  (:domain satellite)
  (:objects
    sat1 - satellite
    cam1 cam2 - instrument
    mode1 mode2 - mode
    star1 star2 star3 - direction
  )
  (:init
    (carries sat1 cam1)
    (calibration cam1 star1)
    (supports cam1 mode1)
    (carries sat1 cam2)
    (calibration cam2 star1)
    (supports cam2 mode2)
    (power sat1)
    (points sat1 star1)
  )
  (:goal (and
    (image star3 mode2)
    (image star2 mode1)
  )))
