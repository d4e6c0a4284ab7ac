(define (problem satellite-05)
  (:domain satellite)
  (:objects
    sat1 sat2 - satellite
    cam1 cam2 cam3 cam4 - instrument
    mode1 mode2 mode3 - mode
    star1 star2 star3 star4 - direction
  )
  (:init
    (carries sat1 cam1)
    (calibration cam1 star3)
    (supports cam1 mode3)
    (carries sat2 cam2)
    (calibration cam2 star3)
    (supports cam2 mode3)
    (carries sat1 cam3)
    (calibration cam3 star1)
    (supports cam3 mode2)
    (carries sat2 cam4)
    (calibration cam4 star2)
    (supports cam4 mode3)
    (power sat1)
    (points sat1 star1)
    (power sat2)
    (points sat2 star2)
  )
  (:goal (and
    (image star1 mode3)
    (image star2 mode2)
    (image star2 mode3)
  )))
