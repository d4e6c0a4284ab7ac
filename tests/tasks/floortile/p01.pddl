(define (problem floortile-01)
  (:domain floortile)
  (:objects
    robot1 - robot
    t-0-0 t-1-0 t-0-1 t-1-1 - tile
    white black - colour
  )
  (:init
    (stocked white)
    (stocked black)
    (over t-0-1 t-0-0)
    (over t-1-1 t-1-0)
    (right-of t-1-0 t-0-0)
    (right-of t-1-1 t-0-1)
    (on robot1 t-0-0)
    (brush robot1 white)
    (dry t-1-0)
    (dry t-0-1)
    (dry t-1-1)
    (= (total-cost) 0)
  )
  (:goal (and
    (painted t-0-1 black)
    (painted t-1-1 white)
  ))
  (:metric minimize (total-cost)))
